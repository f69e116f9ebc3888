import { Component, type ReactNode } from 'react';

interface Props {
	readonly children: ReactNode;
	/** `main` for a whole view, `aside` for a panel beside it. */
	readonly as: 'main' | 'aside';
}

/** Replaces a view that fails to render with buttons to retry and to reload. Without it, React would remove the whole page. */
export class ErrorBoundary extends Component<Props, { readonly hasFailed: boolean }> {
	static getDerivedStateFromError() {
		return { hasFailed: true };
	}

	override state = { hasFailed: false };

	override render() {
		if (!this.state.hasFailed) return this.props.children;
		const Pane = this.props.as;
		return (
			<Pane className={Pane === 'main' ? 'pane' : 'thread-panel'}>
				<div className="state" role="alert">
					<h2>This view has failed</h2>
					<p>
						Your messages are safe. Try again, or reload the page. If it fails again, tell your administrator.
					</p>
					<div className="state-actions">
						<button type="button" className="button" onClick={() => this.setState({ hasFailed: false })}>
							Try again
						</button>
						<button type="button" className="button" onClick={() => location.reload()}>
							Reload
						</button>
					</div>
				</div>
			</Pane>
		);
	}
}
