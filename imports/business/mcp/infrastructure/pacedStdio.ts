/**
 * Reads what a server with stdio writes at a bounded rate, so that its pipe holds it back and other work has its turn.
 */
import type { Readable } from 'node:stream';
import type { StdioClientTransport, StdioServerParameters } from '@modelcontextprotocol/client/stdio';
import { messagePace } from './messagePace';

/** A message is a line. https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio */
const LINES_PER_MESSAGE = 1;

export function createPacedStdio(
  Transport: typeof StdioClientTransport,
  settings: StdioServerParameters,
): StdioClientTransport {
  const transport = new Transport(settings);
  const start = transport.start.bind(transport);
  const close = transport.close.bind(transport);
  let readFreely = (): void => undefined;
  return Object.assign(transport, {
    // The client asks a second process which revision the server speaks, unless the transport is of a class of its own.
    constructor: function createProbe(probe: StdioServerParameters) {
      return createPacedStdio(Transport, probe);
    },
    start: async () => {
      await start();
      // Boundary: the transport keeps its process to itself.
      const { _process: process } = transport as unknown as { readonly _process?: { readonly stdout: Readable } };
      if (process !== undefined) readFreely = paceStream(process.stdout);
    },
    close: () => {
      // A process has ended once all that it has written is read.
      readFreely();
      return close();
    },
  });
}

/** @returns ends it, and reads the rest as it comes */
export function paceStream(stream: Readable): () => void {
  const pace = messagePace(LINES_PER_MESSAGE);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (chunk: Uint8Array): void => {
    const waitMs = pace(chunk);
    if (waitMs === 0) return;
    stream.pause();
    timer = setTimeout(() => stream.resume(), waitMs);
  };
  stream.on('data', wait);
  return () => {
    clearTimeout(timer);
    stream.off('data', wait);
    stream.resume();
  };
}
