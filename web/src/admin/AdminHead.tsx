import { ThemeButton } from '../session/ThemeButton.tsx';
import { Wave } from '../ui/Wave.tsx';
import { signOut } from './AdminSignIn.tsx';

interface Props {
	readonly title: string;
	readonly otherPage: { readonly path: string; readonly title: string };
	readonly onSignedOut: () => void;
}

/** The head of the administrator's pages: a link to the other page, the theme, and signing out. */
export const AdminHead = ({ title, otherPage, onSignedOut }: Props) => (
	<header className="admin-head">
		<Wave />
		<h1>{title}</h1>
		<a className="button small" href={otherPage.path}>
			{otherPage.title}
		</a>
		<ThemeButton />
		<button
			type="button"
			className="button small"
			onClick={() => {
				signOut();
				onSignedOut();
			}}
		>
			Sign out
		</button>
	</header>
);
