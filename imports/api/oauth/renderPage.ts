/**
 * Renders the pages that users see while they connect an account or sign in: static HTML without scripts,
 * everything escaped.
 */
import { createHash } from 'node:crypto';

export interface OAuthPage {
  readonly status: number;
  readonly title: string;
  readonly message: string;
  /** Quotes the authorization server. */
  readonly detail?: string | undefined;
  /** A form with one button. */
  readonly confirm?: {
    readonly label: string;
    readonly action: string;
    readonly fields: Readonly<Record<string, string>>;
  };
  /** What to do next. */
  readonly link?: { readonly label: string; readonly href: string };
  /** The target of a link back to the app. */
  readonly home?: string;
}

export function renderPage({ title, message, detail, confirm, link, home }: OAuthPage): string {
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>`,
    `<body><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(message)}</p>`,
    detail === undefined ? '' : `<p class="detail">The server’s message: <q>${escapeHtml(detail)}</q></p>`,
    confirm === undefined ? '' : formOf(confirm),
    link === undefined ? '' : `<p><a href="${escapeHtml(link.href)}">${escapeHtml(link.label)}</a></p>`,
    home === undefined ? '' : `<p><a href="${escapeHtml(home)}">Back to the app</a></p>`,
    '</main></body></html>',
  ].join('\n');
}

/**
 * Forbids loading, scripts, framing and caching.
 * @param referrer `same-origin` for the page with the form, so that browsers send its origin
 */
export function pageHeaders(referrer: 'no-referrer' | 'same-origin' = 'no-referrer'): Readonly<Record<string, string>> {
  return {
    'content-type': 'text/html; charset=utf-8',
    // No `form-action`: it would apply to every redirect after the form, which leads to the vendor and beyond.
    'content-security-policy': `default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': referrer,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
  };
}

export function escapeHtml(text: string): string {
  return text.toWellFormed().replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE =
  ':root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{margin:0;display:grid;min-height:100vh;place-items:center}main{max-width:32rem;padding:2rem;overflow-wrap:anywhere}h1{font-size:1.4rem}button{font:inherit;padding:.6rem 1.2rem;cursor:pointer}.detail{opacity:.8}';

const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;

function formOf({ label, action, fields }: NonNullable<OAuthPage['confirm']>): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  return `<form method="post" action="${escapeHtml(action)}">${inputs.join('')}<button type="submit">${escapeHtml(label)}</button></form>`;
}
