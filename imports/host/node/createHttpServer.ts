/** Creates an HTTP server whose requests and responses have the members that routes use. */
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { OutgoingHttpHeaders, Server, ServerOptions } from 'node:http';
import { parse } from 'node:querystring';
import { parseUrl } from '../../business/ai/domain/util/parseUrl';
import type { HttpRequest, HttpResponse } from '../../api/http/HttpMessages';

export function createHttpServer(
  options: ServerOptions,
  handle: (request: HttpRequest, response: HttpResponse) => void,
): Server {
  const classes: ServerOptions = { ...options, IncomingMessage: Request, ServerResponse: Response };
  return createServer(classes, (request, response) =>
    // Boundary: Node's type of requests is also that of the responses that clients receive, which have no method.
    handle(request as HttpRequest, response as HttpResponse),
  );
}

class Request extends IncomingMessage {
  // The router sets these. They are here so that all requests have one shape in memory.
  body: unknown = undefined;
  params: HttpRequest['params'] = {};
  baseUrl = '';
  originalUrl = '';

  get path(): string {
    const { url = '' } = this;
    // https://www.rfc-editor.org/rfc/rfc9112#section-3.2: a path, or an absolute URL
    if (!url.startsWith('/')) return parseUrl(url)?.pathname ?? url;
    const at = url.indexOf('?');
    return at < 0 ? url : url.slice(0, at);
  }

  get protocol(): string {
    return 'encrypted' in this.socket ? 'https' : 'http';
  }

  get query(): HttpRequest['query'] {
    const { url = '' } = this;
    const at = url.indexOf('?');
    return at < 0 ? {} : parse(url.slice(at + 1));
  }
}

class Response<R extends IncomingMessage> extends ServerResponse<R> {
  status(code: number): this {
    this.statusCode = code;
    return this;
  }

  set(headers: string | OutgoingHttpHeaders, value?: string | readonly string[]): this {
    if (typeof headers === 'string') {
      if (value !== undefined) this.setHeader(headers, value);
      return this;
    }
    for (const name in headers) {
      const each = headers[name];
      if (each !== undefined) this.setHeader(name, each);
    }
    return this;
  }

  send(body: string | Uint8Array): this {
    this.setHeader('content-length', Buffer.byteLength(body));
    this.end(body);
    return this;
  }

  json(body: unknown): this {
    if (!this.hasHeader('content-type')) this.setHeader('content-type', 'application/json; charset=utf-8');
    return this.send(body === undefined ? '' : JSON.stringify(body));
  }
}
