/**
 * The pages on which a user of the app consents to what a client asks for, and revokes it. They are the app's own, so
 * they have its style sheets, and find the user's sign-in where the app keeps it: Meteor's client has no cookie.
 */
import { createHash } from 'node:crypto';
import { escapeHtml } from '../oauth/renderPage';

/** What the app's pages look like. */
export interface ConsentPage {
  readonly appName: string;
  /** Addresses of the app's style sheets. */
  readonly styleSheets: () => readonly string[];
  /** How users are shown to themselves. */
  readonly nameOf: (userId: string) => Promise<string | undefined>;
}

export interface ConsentPorts extends ConsentPage {
  /** Where people sign in, and come back from by themselves. */
  readonly signInUrl: string;
  /** The path of the app's root URL, which is part of the name under which Meteor keeps the sign-in; '' for none. */
  readonly basePath: string;
}

export function renderConsent(
  ports: ConsentPorts,
  { client, destination }: { readonly client: string; readonly destination: string },
): string {
  const [name, app] = [escapeHtml(client), escapeHtml(ports.appName)];
  return render(ports, `Connect ${client} to ${ports.appName}`, 'consent', [
    `<h1>Connect <em>${name}</em> to ${app}?</h1>`,
    `<p>It will use ${app} as you: read what you may read, and do what you may do with the tools that ${app} offers. The name is the client’s own claim; what it is given goes to <strong>${escapeHtml(destination)}</strong>.</p>`,
    '<p class="bolide-user" hidden>You are signed in as <strong></strong>.</p>',
    '<p><button type="button" data-decision="approve" disabled>Connect</button> <button type="button" data-decision="deny" disabled>Cancel</button></p>',
  ]);
}

export function renderGrants(ports: ConsentPorts): string {
  return render(ports, `Apps connected to ${ports.appName}`, 'grants', [
    `<h1>Apps connected to ${escapeHtml(ports.appName)}</h1>`,
    '<p class="bolide-none" hidden>You have connected no app.</p><ul class="bolide-grants"></ul>',
  ]);
}

export function renderRefusal(ports: ConsentPorts, message: string): string {
  return render(ports, 'This app cannot be connected', 'none', [
    '<h1>This app cannot be connected</h1>',
    `<p>${escapeHtml(message)}</p>`,
  ]);
}

/** Permits the page's own script, requests to its own server, and the app's style sheets. */
export function scriptedHeaders(): Readonly<Record<string, string>> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      "default-src 'none'",
      `script-src '${SCRIPT_HASH}'`,
      `style-src 'self' '${STYLE_HASH}'`,
      "font-src 'self' data:",
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
  };
}

function render(
  { signInUrl, styleSheets, basePath, appName }: ConsentPorts,
  title: string,
  kind: 'consent' | 'grants' | 'none',
  content: readonly string[],
): string {
  const sheets = styleSheets().map((href) => `<link rel="stylesheet" href="${escapeHtml(href)}">`);
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">',
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style>${sheets.join('')}</head>`,
    `<body class="bolide-page" data-kind="${kind}" data-base="${escapeHtml(basePath)}"><main>`,
    ...content,
    `<p class="bolide-sign-in" hidden>Sign in to ${escapeHtml(appName)} first: <a href="${escapeHtml(signInUrl)}" target="_blank">${escapeHtml(appName)}</a>. This page goes on by itself.</p>`,
    '<p class="bolide-error" role="alert" hidden></p>',
    `</main><script>${SCRIPT}</script></body></html>`,
  ].join('\n');
}

const STYLE =
  ':root{color-scheme:light dark}body.bolide-page{margin:0;display:grid;min-height:100vh;place-items:center;font:16px/1.5 system-ui,sans-serif}.bolide-page main{max-width:34rem;padding:2rem;overflow-wrap:anywhere}.bolide-page h1{font-size:1.4rem}.bolide-page button{padding:.6rem 1.2rem;cursor:pointer}.bolide-page button:disabled{cursor:default}.bolide-grants{padding:0;list-style:none}.bolide-grants li{display:flex;gap:1rem;justify-content:space-between;align-items:center;padding:.5rem 0}';

/** Meteor's key is `Meteor.loginToken`, with the path of a root URL that has one (accounts-base/accounts_client.js). */
const SCRIPT = `(() => {
  const { kind, base } = document.body.dataset;
  const find = (selector) => document.querySelector(selector);
  const isKey = (key) => base === '' ? key === 'Meteor.loginToken' : key.startsWith('Meteor.loginToken:') && key.endsWith(':' + base);
  const tokenIn = (storage) => { const key = Object.keys(storage).find(isKey); return key === undefined ? null : storage.getItem(key); };
  const token = () => tokenIn(localStorage) ?? tokenIn(sessionStorage);
  const ask = async (body) => {
    const headers = { authorization: 'Bearer ' + token(), 'content-type': 'application/json' };
    const response = await fetch(location.pathname, { method: 'POST', headers, body: JSON.stringify(body), credentials: 'omit' });
    const answer = await response.json();
    if (response.status === 401) return undefined;
    if (!response.ok) throw new Error(answer.error_description);
    return answer;
  };
  const fail = (error) => { const shown = find('.bolide-error'); shown.textContent = error.message; shown.hidden = false; };
  const query = location.search.slice(1);
  const decide = async (decision) => { const answer = await ask({ query, decision }); if (answer === undefined) show(); else location.assign(answer.location); };
  const showGrants = ({ grants }) => {
    find('.bolide-none').hidden = grants.length > 0;
    find('.bolide-grants').replaceChildren(...grants.map(({ id, name, client, createdAt, lastUsedAt }) => {
      const item = document.createElement('li');
      const text = document.createElement('span');
      text.textContent = name + ' (' + client + '), since ' + new Date(createdAt).toLocaleDateString() + (lastUsedAt === undefined ? '' : ', last used ' + new Date(lastUsedAt).toLocaleDateString());
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = 'Disconnect';
      button.addEventListener('click', () => ask({ revoke: id }).then((answer) => answer === undefined ? show() : showGrants(answer)).catch(fail));
      item.append(text, button);
      return item;
    }));
  };
  const show = async () => {
    if (kind === 'none') return;
    const answer = token() === null ? undefined : await ask(kind === 'consent' ? { query } : {});
    find('.bolide-sign-in').hidden = answer !== undefined;
    for (const button of document.querySelectorAll('[data-decision]')) button.disabled = answer === undefined;
    if (answer === undefined) return;
    if (kind === 'grants') return showGrants(answer);
    find('.bolide-user strong').textContent = answer.name;
    find('.bolide-user').hidden = false;
  };
  for (const button of document.querySelectorAll('[data-decision]')) button.addEventListener('click', () => decide(button.dataset.decision).catch(fail));
  addEventListener('storage', () => show().catch(fail));
  show().catch(fail);
})();`;

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
const SCRIPT_HASH = hashOf(SCRIPT);
const STYLE_HASH = hashOf(STYLE);
