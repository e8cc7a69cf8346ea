/**
 * Planted secrets, and a watch that detects any that leaves the process. Every credential of the tests' own apps
 * contains the marker. Everything that is sent by a server, printed, sent to a DDP client or passed to a listener is
 * searched for it in plain text and in other encodings. Simulated authorization servers issue tokens on purpose, and
 * are exempted explicitly.
 */
import { randomBytes } from 'node:crypto';
import { ServerResponse } from 'node:http';
import { Server, Socket } from 'node:net';
import { inspect } from 'node:util';
import type { EventEmitter } from 'eventemitter3';
import { SafeEmitter } from '../../imports/business/ai/application/services/shared/SafeEmitter';
import { DdpSession } from '../stubs/server/DdpSession';

/** Letters and digits only, so that it is valid in keys, headers, URLs and base64. */
export const CANARY = 'CanaryPlantedHere';

export interface Leak {
  /** Where it was sent. */
  readonly channel: string;
  readonly excerpt: string;
}

/** A random secret of 32 or more bytes, in base64 that contains the marker, like a sealing key. */
export function canaryBase64(bytes = 32): string {
  const length = Math.ceil((bytes * 8) / 6);
  const random = randomBytes(bytes).toString('base64url').replace(/[-_]/g, 'x');
  const text = (CANARY + random).slice(0, length - 1);
  // The unused bits of the last character must be zero.
  return `${text}A${'='.repeat((4 - (length % 4)) % 4)}`;
}

class CanaryWatch {
  readonly leaks: Leak[] = [];
  /** The number of characters scanned, by channel. */
  readonly seen = new Map<string, number>();
  private readonly excepted = new WeakSet<object>();
  /** The end of the previous write, because two writes may share a marker. */
  private readonly tails = new WeakMap<object, string>();

  /** Exempts a server whose clients are meant to receive secrets. */
  except(server: Server): void {
    this.excepted.add(server);
  }

  isExcepted(server: object): boolean {
    return this.excepted.has(server);
  }

  scan(channel: string, text: string, stream?: object): void {
    this.seen.set(channel, (this.seen.get(channel) ?? 0) + text.length);
    const tail = stream === undefined ? '' : (this.tails.get(stream) ?? '');
    if (stream !== undefined) this.tails.set(stream, (tail + text).slice(-MAX_ENCODED_LENGTH));
    const combined = tail + text;
    const at = ENCODINGS.map((encoding) => combined.indexOf(encoding)).find((index) => index >= 0);
    if (at === undefined) return;
    this.leaks.push({ channel, excerpt: combined.slice(Math.max(0, at - 80), at + 80) });
    if (stream !== undefined) this.tails.delete(stream);
  }

  /** Leaks since the last call. */
  take(): readonly Leak[] {
    return this.leaks.splice(0);
  }
}

/** The marker as text, in hexadecimal, and in base64 at each of the three possible offsets. */
const ENCODINGS: readonly string[] = [
  CANARY,
  Buffer.from(CANARY).toString('hex'),
  ...[0, 1, 2].map((shift) => {
    const encoded = Buffer.from('x'.repeat(shift) + CANARY).toString('base64url');
    // The characters at both ends depend on the surrounding text.
    return encoded.slice(shift === 0 ? 0 : shift + 1, Math.floor(((shift + CANARY.length) * 8) / 6));
  }),
];
const MAX_ENCODED_LENGTH = 2 * CANARY.length;

export const canaryWatch = new CanaryWatch();

let isWatching = false;

/** Watches every server, the output, every DDP client and every listener. Idempotent. */
export function watchForCanaries(): void {
  if (isWatching) return;
  isWatching = true;
  beforeEachCall(Socket.prototype, 'write', (socket: Socket, chunk) => {
    if (isText(chunk) && isWatched(socket)) canaryWatch.scan('a server’s socket', textOf(chunk), socket);
  });
  // On the socket, the chunks of a body are separated by their lengths.
  for (const name of ['write', 'end']) {
    beforeEachCall(ServerResponse.prototype, name, (response: ServerResponse, piece) => {
      if (isText(piece) && isWatched(response.req.socket)) canaryWatch.scan('a body', textOf(piece), response);
    });
  }
  for (const name of ['stdout', 'stderr'] as const) {
    beforeEachCall(process[name], 'write', (_stream, chunk) => {
      if (isText(chunk)) canaryWatch.scan(name, textOf(chunk));
    });
  }
  beforeEachCall(DdpSession.prototype, 'send', (_session, message) => canaryWatch.scan('DDP', JSON.stringify(message)));
  beforeEachCall(SafeEmitter.prototype, 'emit', (emitter: EventEmitter, event, ...values) => {
    if (emitter.listenerCount(String(event)) > 0)
      canaryWatch.scan('an event', inspect(values, { depth: 12, maxStringLength: null, maxArrayLength: null }));
  });
}

/** Wraps a method of a foreign class without changing its behaviour. */
function beforeEachCall(
  owner: object,
  name: string,
  observe: (self: never, ...values: readonly unknown[]) => void,
): void {
  const original = Reflect.get(owner, name) as (...values: readonly unknown[]) => unknown;
  Reflect.set(owner, name, function (this: never, ...values: readonly unknown[]): unknown {
    observe(this, ...values);
    return original.apply(this, [...values]);
  });
}

/** Sockets of clients have no server. */
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
