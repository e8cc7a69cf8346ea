/**
 * The review of every HTTP route as browsers meet it: whether the cookie of a session authenticates a request, by who
 * sends it, and what the headers of the response let a browser do. It is measured on a running server.
 */
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../imports/business/ai/domain/util/json';
import { OtherOriginError } from '../../imports/api/dashboard/sameOrigin';
import { STREAM_HEADERS } from '../../imports/api/http/ResponseSink';
import { routesOf } from './routesOf';

/** What adds routes to a server. Nobody signs in. */
export const ALL_ROUTES = {
  OIDC_ISSUER: 'https://issuer.invalid',
  OIDC_CLIENT_ID: 'bolide',
  OIDC_USERS: '*',
  MCP_TOOLS: '*',
};

export interface ReviewedServer {
  readonly url: string;
  readonly token: string;
  readonly host: { readonly api: { readonly router: object } };
}

const HEAD = `# Routes in browsers

What each route does with requests of browsers. The columns *script*, *opened* and *other site* say whether the cookie of
a dashboard's session authenticates a request that a script of the dashboard sends, that a browser opens as a page or
embeds, and that a page of another site causes: \`Sec-Fetch-Site\`, \`Sec-Fetch-Mode\` and \`Sec-Fetch-Dest\` tell them
apart. Tokens in headers authenticate all three, since no browser sends them by itself. A dash stands for
public routes and pages; of these, only the pages of \`/oauth\` use a session when they are opened, to connect an account.

The policy is *data* (\`default-src 'none'; frame-ancestors 'none'; sandbox\`: a browser that shows the response runs
nothing of it) or *page* (scripts and styles of the server, or none, and no framing). Every response has
\`x-content-type-options: nosniff\`. Bodies of vendors and exports are also attachments, which browsers save.

This page is written by \`npm run generate\`, from the answers of a running server.

| route | script | opened | other site | responds with | policy | caching |
| --- | --- | --- | --- | --- | --- | --- |
`;

type Sender = 'script' | 'opened' | 'other site';

/** https://www.w3.org/TR/fetch-metadata/ */
const SENDERS: Readonly<Record<Sender, Readonly<Record<string, string>>>> = {
  script: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', accept: '*/*' },
  opened: {
    'sec-fetch-site': 'same-origin',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
    accept: 'text/html',
  },
  'other site': {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'no-cors',
    'sec-fetch-dest': 'empty',
    accept: '*/*',
  },
};

interface Route {
  readonly method: string;
  readonly path: string;
  /** Absent: the route is a page, or a part of one. */
  readonly types?: readonly string[];
  readonly isPublic: boolean;
}

export async function routeReview(server: ReviewedServer): Promise<string> {
  const described = await describedRoutes(server);
  const names = new Set(described.map(nameOf));
  const pages = routesOf(server.host.api.router).flatMap((route): readonly Route[] => {
    const [method = '', path = ''] = route.split(' ');
    const isPage = PAGES.test(path) && !names.has(route);
    return isPage ? [{ method, path, isPublic: !path.endsWith('/session') || method !== 'GET' }] : [];
  });
  const rows: string[] = [];
  const session = new Session(server);
  for (const route of [...pages, ...described]) rows.push(await rowOf(session, route));
  return `${HEAD}${rows.join('\n')}\n`;
}

/** The dashboard's page, files and session, and the pages that connect accounts. */
const PAGES = /^\/(?:$|dashboard\/|favicon|api\/session$|oauth\/|sign-in)/;

function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

async function describedRoutes({ url }: ReviewedServer): Promise<readonly Route[]> {
  const document: unknown = await (await fetch(`${url}/openapi.json`)).json();
  return entriesOf(fieldOf(document, 'paths')).flatMap(([path, methods]) =>
    entriesOf(methods).map(([method, operation]) => {
      const [, success] = entriesOf(fieldOf(operation, 'responses')).find(([status]) => status.startsWith('2')) ?? [];
      const types = Object.keys(Object.fromEntries(entriesOf(fieldOf(success, 'content'))));
      const security = fieldOf(operation, 'security');
      return { method: method.toUpperCase(), path, types, isPublic: Array.isArray(security) && security.length === 0 };
    }),
  );
}

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : [];
}

async function rowOf(session: Session, route: Route): Promise<string> {
  const cells: string[] = [];
  let last: Answer | undefined;
  // A page is what is opened, and a session answers scripts.
  const senders: readonly Sender[] = ['other site', 'opened', 'script'];
  for (const sender of senders) {
    if (route.isPublic && sender === 'opened') continue;
    last = await session.ask(route, SENDERS[sender]);
    cells.unshift(route.isPublic ? '–' : isAuthenticated(last) ? 'yes' : 'no');
  }
  if (route.isPublic) cells.push('–');
  const { headers = {} } = last ?? {};
  const [measured = 'nothing'] = headers['content-type']?.split(';') ?? [];
  const types = route.types ?? [measured];
  cells.push(types.map((type) => `\`${type}\``).join(', '), policyOf(headers), cachingOf(types, headers));
  return `| \`${nameOf(route)}\` | ${cells.join(' | ')} |`;
}

/** A session that is refused because of its sender, and one that is ignored. */
function isAuthenticated({ status, text }: Answer): boolean {
  return status !== 401 && !text.includes(new OtherOriginError().message);
}

function policyOf(headers: IncomingHttpHeaders): string {
  const policy = String(headers['content-security-policy'] ?? 'none');
  const name = / sandbox$/.test(policy) ? 'data' : policy.startsWith("default-src 'none'; ") ? 'page' : policy;
  return headers['x-content-type-options'] === 'nosniff' ? name : `${name}, without nosniff`;
}

function cachingOf(types: readonly string[], headers: IncomingHttpHeaders): string {
  const sent = `\`${String(headers['cache-control'])}\``;
  const streamed = `\`${STREAM_HEADERS['cache-control']}\``;
  return types.includes('text/event-stream') && sent !== streamed ? `${sent}; streams: ${streamed}` : sent;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The start of the body. */
  readonly text: string;
}

/** The session of a dashboard, which signs in again when a request has ended it. */
class Session {
  private readonly server: ReviewedServer;
  private cookie: string | undefined;

  constructor(server: ReviewedServer) {
    this.server = server;
  }

  async ask(route: Route, headers: Readonly<Record<string, string>>): Promise<Answer> {
    if (route.isPublic) return ask(this.server, route, headers);
    this.cookie ??= await signIn(this.server);
    const answer = await ask(this.server, route, { ...headers, cookie: this.cookie });
    if (answer.headers['set-cookie'] !== undefined) this.cookie = undefined;
    return answer;
  }
}

async function signIn({ url, token }: ReviewedServer): Promise<string> {
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  await response.arrayBuffer();
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

/** The clients of Node's fetch set `sec-fetch-mode` themselves. */
function ask(
  { url }: ReviewedServer,
  { method, path }: Route,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const body = method === 'POST' ? '{}' : '';
  const filled = path.replace('{verb}', 'generateContent').replaceAll(/\{\w+\}|(?<=\/):\w+/g, '0');
  return new Promise((resolve, reject) => {
    const options = { method, headers: { 'content-type': 'application/json', ...headers } };
    const sent = httpRequest(new URL(filled, url), options, (response) => {
      const answer = { status: response.statusCode ?? 0, headers: response.headers };
      // Streams have no end.
      response.once('data', (chunk: Buffer) => {
        resolve({ ...answer, text: chunk.toString() });
        response.destroy();
      });
      response.once('end', () => resolve({ ...answer, text: '' }));
      if (response.headers['content-type']?.startsWith('text/event-stream') === true) {
        resolve({ ...answer, text: '' });
        response.destroy();
      }
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
