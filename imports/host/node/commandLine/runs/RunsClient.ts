/** Asks a running server about its runs, and decides about them, over HTTP. */
import { fieldsOf, isObject, readJson } from '../../../../business/ai/domain/util/json';
import { omitUndefined } from '../../../../business/ai/domain/util/omitUndefined';

/** What the server has refused, or why it could not be asked, in a sentence that says what to do. */
export class RunsClientError extends Error {}

export interface RunsClientOptions {
  /** The server's URL, with its path if it has one. */
  readonly url: string;
  readonly token: string;
  readonly fetch?: typeof fetch;
}

export class RunsClient {
  private readonly options: RunsClientOptions;

  constructor(options: RunsClientOptions) {
    this.options = options;
  }

  /** @throws RunsClientError */
  get(path: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<unknown> {
    const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
    return this.send('GET', given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`);
  }

  /** @throws RunsClientError */
  post(path: string, body: object = {}): Promise<unknown> {
    return this.send('POST', path, body);
  }

  private async send(method: string, path: string, body?: object): Promise<unknown> {
    const { url, token, fetch: request = fetch } = this.options;
    let response: Response;
    try {
      response = await request(url.replace(/\/+$/, '') + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...omitUndefined({ body: body === undefined ? undefined : JSON.stringify(body) }),
      });
    } catch (error) {
      throw new RunsClientError(
        `No server answers at ${url} (${reasonOf(error)}). Start it, or set BOLIDE_SERVER_URL to the address of a running one.`,
        { cause: error },
      );
    }
    const text = await response.text();
    const parsed = readJson(text);
    if (response.ok && parsed !== undefined) return parsed;
    throw new RunsClientError(explain(response.status, parsed, url));
  }
}

function explain(status: number, body: unknown, url: string): string {
  const { message } = fieldsOf(fieldsOf(body)['error']);
  const said = typeof message === 'string' ? message : `The response had status ${status}.`;
  switch (status) {
    case 401:
      return `${said} Set BOLIDE_API_TOKEN to a token of the server at ${url}.`;
    case 403:
      return `${said} Use a token with more scopes: \`read\` to list, \`generate\` to cancel and repeat, \`approve\` to decide.`;
    case 404:
      return isObject(body) ? said : `There is no API of Bolide at ${url}. Is its path missing in BOLIDE_SERVER_URL?`;
    case 503:
      return `${said} Try again in a few seconds.`;
    default:
      return said;
  }
}

function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? ('code' in cause ? String(cause.code) : cause.message) : String(cause);
}
