import { useSelected } from '@tidemark/client/react';
import { memo } from 'react';
import { useSelf, useUserName } from '../session/names.ts';
import { formatRoute, toConversation } from '../session/route.ts';
import { type Piece, parseText } from './parse-text.ts';
import { type TextBlock, textBlocks } from './text-blocks.ts';

/** Renders the text of a message. */
export const MessageText = memo(function MessageText({ text }: { readonly text: string }) {
	const blocks = textBlocks(text);
	const [only] = blocks;
	if (blocks.length <= 1 && (!only || only.kind === 'words')) return <Pieces pieces={parseText(text)} />;
	// biome-ignore lint/suspicious/noArrayIndexKey: blocks have no identity, and are rebuilt when the text changes
	return blocks.map((block, index) => <BlockOf key={index} block={block} />);
});

function BlockOf({ block }: { readonly block: TextBlock }) {
	if (block.kind === 'quote')
		return (
			<blockquote className="part-quote" dir="auto">
				<Pieces pieces={parseText(block.text)} />
			</blockquote>
		);
	if (block.kind === 'words')
		return (
			<div dir="auto">
				<Pieces pieces={parseText(block.text)} />
			</div>
		);
	const items = block.items.map((item, index) => (
		// biome-ignore lint/suspicious/noArrayIndexKey: as above
		<li key={index} dir="auto">
			<Pieces pieces={parseText(item)} />
		</li>
	));
	return block.from === null ? (
		<ul className="part-list">{items}</ul>
	) : (
		<ol className="part-list" start={block.from}>
			{items}
		</ol>
	);
}

export const Pieces = ({ pieces }: { readonly pieces: readonly Piece[] }) =>
	// biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity, and are rebuilt when the text changes
	pieces.map((piece, index) => <PieceOf key={index} piece={piece} />);

function PieceOf({ piece }: { readonly piece: Piece }) {
	switch (piece.kind) {
		case 'text':
			return piece.text;
		case 'code':
			return <code>{piece.text}</code>;
		case 'block':
			return (
				<pre>
					<code>{piece.text}</code>
				</pre>
			);
		case 'user':
			return <Mention id={piece.id} />;
		case 'everyone':
			return <span className="mention me">{piece.text}</span>;
		case 'channel':
			return <ChannelLink id={piece.id} text={piece.text} />;
		case 'link':
			return (
				<a href={piece.href} target="_blank" rel="noopener noreferrer">
					{piece.text}
				</a>
			);
		case 'bold':
			return (
				<strong>
					<Pieces pieces={piece.pieces} />
				</strong>
			);
		case 'italic':
			return (
				<em>
					<Pieces pieces={piece.pieces} />
				</em>
			);
		case 'strike':
			return (
				<s>
					<Pieces pieces={piece.pieces} />
				</s>
			);
	}
}

function Mention({ id }: { readonly id: string }) {
	const name = useUserName(id);
	const self = useSelf();
	return <span className={`mention ${id === self ? 'me' : ''}`}>@{name || '…'}</span>;
}

function ChannelLink({ id, text }: { readonly id: string; readonly text: string }) {
	const name = useSelected(({ conversations }) => conversations.get(id)?.name ?? text);
	return (
		<a className="mention" href={formatRoute(toConversation(id))}>
			#{name || 'channel'}
		</a>
	);
}
