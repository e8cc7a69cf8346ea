/** Handles WebSocket upgrades of `GET /v1/responses`, after authentication. Other paths are left alone. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import type { Release } from '../../../../business/limits/application/UserLimiter';
import { LLMOverloadedError } from '../../../../business/ai/domain/errors/LLMErrors';
import type { ApiPrincipal } from '../../../auth/ApiPrincipal';
import { beginRequest } from '../../../http/beginRequest';
import { errorResponse } from '../../../http/errorResponse';
import { authorize } from '../../../http/createRoute';
import { canonicalPath } from '../../../http/canonicalPath';
import { reasoningEventName } from '../reasoningEventName';
import { ResponseSocket } from './ResponseSocket';
import type { SocketPorts } from './ResponseSocket';

export interface ResponseSocketsPorts extends Omit<SocketPorts, 'rawReasoningName' | 'request'> {
  readonly authenticate: (request: IncomingMessage) => Promise<ApiPrincipal | undefined> | ApiPrincipal | undefined;
  /** Where the API is mounted: '' or paths without a slash at the end. */
  readonly basePaths: readonly string[];
}

const PATH = '/v1/responses';

export class ResponseSockets {
  private readonly ports: ResponseSocketsPorts;
  private server: Promise<WebSocketServer> | undefined;
  private readonly open = new Set<ResponseSocket>();

  constructor(ports: ResponseSocketsPorts) {
    this.ports = ports;
  }

  /** @returns false for upgrades of other paths */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const [path = ''] = (request.url ?? '').split('?');
    const isPath = (base: string): boolean => path.startsWith(base) && canonicalPath(path.slice(base.length)) === PATH;
    if (!this.ports.basePaths.some(isPath) || request.method !== 'GET') return false;
    const onError = (): void => {
      socket.destroy();
    };
    // Until the upgrade, no other listener handles the socket's errors.
    socket.on('error', onError);
    this.admit(request).then(
      ({ principal, server, release }) => {
        socket.off('error', onError);
        // The client may have left meanwhile.
        if (socket.closed) release();
        else socket.once('close', () => release());
        server.handleUpgrade(request, socket, head, (webSocket) => {
          const session = new ResponseSocket(webSocket, principal, {
            ...this.ports,
            rawReasoningName: reasoningEventName(request),
            request,
          });
          this.open.add(session);
          webSocket.once('close', () => this.open.delete(session));
        });
      },
      (thrown: unknown) => this.refuse(socket, thrown),
    );
    return true;
  }

  /** Closes a user's sockets; a turn in progress is completed or cancelled first. */
  closeUser(userId: string): void {
    for (const session of this.open) if (session.userId === userId) session.close();
  }

  /** Closes a token's sockets; a turn in progress is completed or cancelled first. */
  closeToken(tokenId: string): void {
    for (const session of this.open) if (session.tokenId === tokenId) session.close();
  }

  /** Closes a session's sockets; a turn in progress is completed or cancelled first. */
  closeSession(sessionId: string): void {
    for (const session of this.open) if (session.sessionId === sessionId) session.close();
  }

  get sessionIds(): readonly string[] {
    return [...this.open].flatMap(({ sessionId }) => sessionId ?? []);
  }

  get tokenIds(): readonly string[] {
    return [...this.open].flatMap(({ tokenId }) => tokenId ?? []);
  }

  close(): void {
    for (const session of this.open) session.close();
  }

  private async admit(
    request: IncomingMessage,
  ): Promise<{ readonly principal: ApiPrincipal; readonly server: WebSocketServer; readonly release: Release }> {
    if (this.ports.inFlight.isClosing) throw new LLMOverloadedError('The server is shutting down.');
    const principal = await authorize(this.ports, request, 'generate');
    this.server ??= createServer(this.ports.maxBodyBytes);
    const server = await this.server;
    const release = await beginRequest(this.ports, principal, { holds: 'connections' });
    return { principal, server, release };
  }

  /** Writes a plain HTTP response to the socket, which has not been upgraded yet. */
  private refuse(socket: Duplex, thrown: unknown): void {
    const { status, body, headers } = errorResponse(this.ports.toError(thrown), { api: 'responses', requestId: '' });
    const text = JSON.stringify(body);
    const retryAfter = headers['retry-after'] === undefined ? '' : `retry-after: ${headers['retry-after']}\r\n`;
    // A client could hold a connection that is closed in one direction only for as long as it likes.
    socket.once('finish', () => socket.destroy());
    socket.end(
      `HTTP/1.1 ${status} ${status === 401 ? 'Unauthorized' : 'Refused'}\r\nconnection: close\r\n${retryAfter}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }
}

/** Loads ws with the first connection. */
async function createServer(maxPayload: number): Promise<WebSocketServer> {
  const { WebSocketServer: Server } = await import('ws');
  return new Server({ noServer: true, clientTracking: false, maxPayload, perMessageDeflate: false });
}
