/**
 * Planted secrets, and who watches that none of them leaves the process. Every credential of the tests' own apps
 * holds the marker; what goes out of a server's socket, into the output, to a DDP client or to a listener is
 * searched for it, as it is and in other spellings. Servers that play authorization servers give tokens away by
 * trade: they are excepted by name.
 */
import { randomBytes } from 'node:crypto';
import { ServerResponse } from 'node:http';
import { Server, Socket } from 'node:net';
import { inspect } from 'node:util';
import type { EventEmitter } from 'eventemitter3';
import { SafeEmitter } from '../../imports/business/ai/application/services/shared/SafeEmitter';
import { DdpSession } from '../stubs/server/DdpSession';

/** Letters and digits only: it stands in keys, headers, URLs and base64 alike. */
export const CANARY = 'CanaryPlantedHere';

export interface Leak {
  /** By what way. */
  readonly channel: string;
  readonly excerpt: string;
}

/** A secret of 32 bytes or more whose base64 holds the marker, as sealing keys are written. */
export function canaryBase64(bytes = 32): string {
  const length = Math.ceil((bytes * 8) / 6);
  const random = randomBytes(bytes).toString('base64url').replace(/[-_]/g, 'x');
  const text = (CANARY + random).slice(0, length - 1);
  // The last letter holds what is left over of the bytes' bits: zeros.
  return `${text}A${'='.repeat((4 - (length % 4)) % 4)}`;
}

class CanaryWatch {
  readonly leaks: Leak[] = [];
  /** Characters that were looked at, by channel. */
  readonly seen = new Map<string, number>();
  private readonly excepted = new WeakSet<object>();
  /** What went out last, for a marker that two writes share. */
  private readonly tails = new WeakMap<object, string>();

  /** The server's clients are meant to get secrets. */
  except(server: Server): void {
    this.excepted.add(server);
  }

  isExcepted(server: object): boolean {
    return this.excepted.has(server);
  }

  look(channel: string, text: string, stream?: object): void {
    this.seen.set(channel, (this.seen.get(channel) ?? 0) + text.length);
    const tail = stream === undefined ? '' : (this.tails.get(stream) ?? '');
    if (stream !== undefined) this.tails.set(stream, (tail + text).slice(-LONGEST));
    const whole = tail + text;
    const at = SPELLINGS.map((spelling) => whole.indexOf(spelling)).find((index) => index >= 0);
    if (at === undefined) return;
    this.leaks.push({ channel, excerpt: whole.slice(Math.max(0, at - 80), at + 80) });
    if (stream !== undefined) this.tails.delete(stream);
  }

  /** What was found since the last call. */
  take(): readonly Leak[] {
    return this.leaks.splice(0);
  }
}

/** As text, hexadecimal, and base64 at each of the three places where a letter may begin. */
const SPELLINGS: readonly string[] = [
  CANARY,
  Buffer.from(CANARY).toString('hex'),
  ...[0, 1, 2].map((shift) => {
    const encoded = Buffer.from('x'.repeat(shift) + CANARY).toString('base64url');
    // The letters at both ends depend on the neighbours.
    return encoded.slice(shift === 0 ? 0 : shift + 1, Math.floor(((shift + CANARY.length) * 8) / 6));
  }),
];
const LONGEST = 2 * CANARY.length;

export const canaryWatch = new CanaryWatch();

let isWatching = false;

/** Once for the whole run: every server, the output, every DDP client and every listener. */
export function watchForCanaries(): void {
  if (isWatching) return;
  isWatching = true;
  beforeEachCall(Socket.prototype, 'write', (socket: Socket, chunk) => {
    if (isText(chunk) && isWatched(socket)) canaryWatch.look('a server’s socket', textOf(chunk), socket);
  });
  // On the socket the pieces of a body have their lengths between them.
  for (const name of ['write', 'end']) {
    beforeEachCall(ServerResponse.prototype, name, (response: ServerResponse, piece) => {
      if (isText(piece) && isWatched(response.req.socket)) canaryWatch.look('a body', textOf(piece), response);
    });
  }
  for (const name of ['stdout', 'stderr'] as const) {
    beforeEachCall(process[name], 'write', (_stream, chunk) => {
      if (isText(chunk)) canaryWatch.look(name, textOf(chunk));
    });
  }
  beforeEachCall(DdpSession.prototype, 'send', (_session, message) => canaryWatch.look('DDP', JSON.stringify(message)));
  beforeEachCall(SafeEmitter.prototype, 'emit', (emitter: EventEmitter, event, ...values) => {
    if (emitter.listenerCount(String(event)) > 0)
      canaryWatch.look('an event', inspect(values, { depth: 12, maxStringLength: null, maxArrayLength: null }));
  });
}

/** The boundary to other people's classes: what they do stays as it is. */
function beforeEachCall(owner: object, name: string, look: (self: never, ...values: readonly unknown[]) => void): void {
  const original = Reflect.get(owner, name) as (...values: readonly unknown[]) => unknown;
  Reflect.set(owner, name, function (this: never, ...values: readonly unknown[]): unknown {
    look(this, ...values);
    return original.apply(this, [...values]);
  });
}

/** A client's socket has no server. */
function isWatched(socket: Socket & { readonly server?: unknown }): boolean {
  return socket.server instanceof Server && !canaryWatch.isExcepted(socket.server);
}

function isText(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array;
}

function textOf(chunk: string | Uint8Array): string {
  return typeof chunk !== 'string'
    ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
    : chunk;
}
