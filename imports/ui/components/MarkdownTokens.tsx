/** Renders the tokens of parsed Markdown. */
import type { ReactNode } from 'react';
import type { MarkedToken, Token, Tokens } from 'marked';
import { CodeBlock } from './CodeBlock';
import { decodeEntities } from './decodeEntities';
import { safeUrl } from './safeUrl';

export function MarkdownTokens({ tokens, depth = 0 }: { readonly tokens: readonly Token[]; readonly depth?: number }) {
  return (
    <>
      {tokens.map((token, index) => (
        // Tokens have no identity of their own.
        <MarkdownToken key={index} token={token as MarkedToken} depth={depth} />
      ))}
    </>
  );
}

/** React's renderer is recursive. */
const MAX_DEPTH = 40;

function MarkdownToken({ token, depth }: { readonly token: MarkedToken; readonly depth: number }): ReactNode {
  if (depth > MAX_DEPTH) return token.raw;
  const inside = (tokens: readonly Token[] | undefined): ReactNode => (
    <MarkdownTokens tokens={tokens ?? []} depth={depth + 1} />
  );
  switch (token.type) {
    case 'paragraph':
      return <p>{inside(token.tokens)}</p>;
    case 'heading':
      // Below the page's own headings, without gaps between the levels.
      return (
        <p className={`md-heading md-heading-${token.depth}`} role="heading" aria-level={3}>
          {inside(token.tokens)}
        </p>
      );
    case 'text':
      return token.tokens === undefined ? decodeEntities(token.text) : inside(token.tokens);
    case 'escape':
      return token.text;
    case 'strong':
      return <strong>{inside(token.tokens)}</strong>;
    case 'em':
      return <em>{inside(token.tokens)}</em>;
    case 'del':
      return <del>{inside(token.tokens)}</del>;
    case 'codespan':
      return <code dir="ltr">{token.text}</code>;
    case 'code':
      return <CodeBlock text={token.text} label="code" isVerbatim />;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'blockquote':
      return <blockquote>{inside(token.tokens)}</blockquote>;
    case 'list':
      return <MarkdownList list={token} depth={depth} />;
    case 'table':
      return <MarkdownTable table={token} depth={depth} />;
    case 'link':
      return <MarkdownLink href={token.href}>{inside(token.tokens)}</MarkdownLink>;
    case 'image':
      return <MarkdownLink href={token.href}>{`Image: ${token.text === '' ? token.href : token.text}`}</MarkdownLink>;
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'html':
      return token.block ? <p className="plain-text">{token.text}</p> : token.text;
    case 'space':
    case 'def':
    case 'list_item':
      return null;
  }
}

function MarkdownList({ list, depth }: { readonly list: Tokens.List; readonly depth: number }) {
  const items = list.items.map((item, index) => (
    <li key={index}>
      <MarkdownTokens tokens={item.tokens} depth={depth + 1} />
    </li>
  ));
  return list.ordered ? <ol start={list.start === '' ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
}

function MarkdownTable({ table, depth }: { readonly table: Tokens.Table; readonly depth: number }) {
  const cellsOf = (cells: readonly Tokens.TableCell[], Cell: 'th' | 'td'): ReactNode =>
    cells.map((cell, index) => (
      <Cell key={index} className={cell.align === null ? undefined : `align-${cell.align}`}>
        <MarkdownTokens tokens={cell.tokens} depth={depth + 1} />
      </Cell>
    ));
  return (
    <div className="md-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{cellsOf(table.header, 'th')}</tr>
        </thead>
        <tbody>
          {table.rows.map((cells, index) => (
            <tr key={index}>{cellsOf(cells, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The target is shown where the text differs from it: a text can claim to lead elsewhere. */
function MarkdownLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const url = safeUrl(href);
  if (url === undefined) return <span className="md-dead-link">{children}</span>;
  return (
    <a href={url} rel="noopener noreferrer nofollow" target="_blank" title={url}>
      {children}
      <span className="md-target"> ({hostOf(url)})</span>
    </a>
  );
}

function hostOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return protocol === 'mailto:' ? pathname : host;
}
