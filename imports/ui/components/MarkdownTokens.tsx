/** Renders the tokens of parsed Markdown. */
import type { ReactNode } from 'react';
import type { MarkedToken, Token, Tokens } from 'marked';
import { CodeBlock } from './CodeBlock';

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

/** The address of a link in an untrusted text. @returns undefined unless it leads to a web or mail address */
function safeUrl(href: string): string | undefined {
  try {
    const url = new URL(href);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes the character references that models write in Markdown. Others are left as they are. */
function decodeEntities(text: string): string {
  return text.replace(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]+);/gi, (reference, name: string) => {
    if (!name.startsWith('#')) return NAMED[name] ?? reference;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : '\uFFFD';
  });
}

const NAMED: Readonly<Record<string, string | undefined>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00A0',
  mdash: '—',
  ndash: '–',
  hellip: '…',
};
