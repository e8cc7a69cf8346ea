/** Sends bytes to a server as they are, and reports what the server answers and how much of a body it takes. */
import { connect } from 'node:net';
import { nextTurn } from './nextTurn';
import { until } from './until';

export interface RawExchange {
  /** 0 if there was no response. */
  readonly status: number;
  /** Everything that was received, headers included. */
  readonly text: string;
  /** The bytes of the body that the connection took. */
  readonly taken: number;
  /** The server closed the connection. */
  readonly isClosed: boolean;
}

export interface RawRequest {
  readonly head: string;
  /** Zeros. Default: none. */
  readonly bodyBytes?: number;
}

/** Turns of the event loop after a response, in which a server of this process that means to close has closed. */
const TURNS_TO_CLOSE = 50;

const CHUNK = Buffer.alloc(256 * 1024, 0x30);

export async function sendRaw(url: string, { head, bodyBytes = 0 }: RawRequest): Promise<RawExchange> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  let taken = 0;
  let isClosed = false;
  socket.on('data', (data) => (text += data.toString('latin1')));
  const closed = new Promise<void>((resolve) => {
    const end = (): void => {
      isClosed = true;
      resolve();
    };
    // A reset is an answer, too; `close` follows.
    socket.on('error', () => undefined);
    socket.once('end', end);
    socket.once('close', end);
  });
  socket.write(`${head}\r\n\r\n`, 'latin1');
  while (taken < bodyBytes) {
    const chunk = CHUNK.subarray(0, Math.min(CHUNK.length, bodyBytes - taken));
    const failed = await Promise.race([
      closed.then(() => true),
      new Promise<boolean>((resolve) => socket.write(chunk, (error) => resolve(error !== undefined && error !== null))),
    ]);
    if (failed) break;
    taken += chunk.length;
  }
  await until(() => isClosed || isComplete(text));
  for (let turn = 0; turn < TURNS_TO_CLOSE; turn += 1) await nextTurn();
  socket.destroy();
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text, taken, isClosed };
}

/** Whether that is a response with its whole body. */
function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const [head, body] = [text.slice(0, end), text.slice(end + 4)];
  if (/\r\ntransfer-encoding: chunked/i.test(head)) return body.endsWith('0\r\n\r\n');
  return body.length >= Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
}
