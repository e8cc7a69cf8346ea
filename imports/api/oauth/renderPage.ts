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

/** The look of the dashboard, whose tokens are in `imports/ui/styles/tokens.css`. Pages load nothing, so it is here. */
const STYLE = [
  ':root{color-scheme:light dark;--paper:#f6f5f2;--surface:#fff;--ink:#1d1b20;--ink-2:#56525e;--line:#e5e2dc;--accent:#b93c0b;--accent-ink:#fff;--focus:#1d4ed8;--shadow:0 1px 2px rgb(30 25 20 / 5%),0 6px 20px -12px rgb(30 25 20 / 18%)}',
  '@media(prefers-color-scheme:dark){:root{--paper:#111014;--surface:#1a191e;--ink:#f0eef3;--ink-2:#b7b3c0;--line:#2c2a32;--accent:#ff8f57;--accent-ink:#1c0d05;--focus:#8fb2ff;--shadow:0 1px 2px rgb(0 0 0 / 40%)}}',
  "body{margin:0;display:grid;min-height:100vh;place-items:center;background:var(--paper);color:var(--ink);font:15px/1.55 ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}",
  'main{box-sizing:border-box;width:min(420px,100% - 32px);padding:32px;border:1px solid var(--line);border-radius:14px;background:var(--surface);box-shadow:var(--shadow);overflow-wrap:anywhere}',
  'h1{margin:0 0 12px;font-size:22px;line-height:1.2;font-weight:650;letter-spacing:-.022em}',
  'p{margin:0 0 16px;color:var(--ink-2)}form+p,p:last-child{margin-bottom:0}form{margin:20px 0 16px}form:last-child{margin-bottom:0}',
  'a{color:var(--accent);text-underline-offset:3px}',
  'button{min-height:38px;padding:7px 15px;border:1px solid var(--accent);border-radius:10px;background:var(--accent);color:var(--accent-ink);font:inherit;font-size:14px;font-weight:560;cursor:pointer}',
  ':focus-visible{outline:2px solid var(--focus);outline-offset:2px}',
].join('');

const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;

function formOf({ label, action, fields }: NonNullable<OAuthPage['confirm']>): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  return `<form method="post" action="${escapeHtml(action)}">${inputs.join('')}<button type="submit">${escapeHtml(label)}</button></form>`;
}
