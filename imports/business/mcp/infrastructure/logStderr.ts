/** What a server with stdio writes to its standard error goes to the log, as much of it as a log can take. */
import type { Stream } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Logger } from '../../ai/domain/interfaces/Logger';

const MAX_LINE_LENGTH = 1_000;
const MAX_LINES_PER_MINUTE = 60;
const MINUTE_MS = 60_000;

export function logStderr(stream: Stream | null, name: string, logger: Logger): void {
  const decoder = new StringDecoder('utf8');
  let line = '';
  let count = 0;
  let minute = -Infinity;
  const write = (): void => {
    const text = line.trim();
    line = '';
    if (text === '') return;
    const now = performance.now();
    if (now - minute >= MINUTE_MS) {
      minute = now;
      count = 0;
    }
    count += 1;
    if (count <= MAX_LINES_PER_MINUTE) logger.info(`MCP server "${name}": ${text}`);
    else if (count === MAX_LINES_PER_MINUTE + 1) logger.warn(`MCP server "${name}" writes more lines than are logged.`);
  };
  stream?.on('data', (chunk: Buffer) => {
    const [first = '', ...others] = decoder.write(chunk).split('\n');
    line = (line + first).slice(0, MAX_LINE_LENGTH);
    for (const each of others) {
      write();
      line = each.slice(0, MAX_LINE_LENGTH);
    }
  });
  stream?.on('end', write);
}
