/** Many clients that read the events of runs for as long as they are served. */
import { Agent, get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { ReaderQuestion, ReaderReport } from './messages';

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
let events = 0;
let resyncs = 0;
let closed = 0;

function read(url: string, token: string): void {
  const request = get(`${url}/api/runs/stream`, { agent, headers: { authorization: `Bearer ${token}` } });
  const reopen = (): void => {
    closed += 1;
    setTimeout(() => read(url, token), 1_000);
  };
  request.on('response', (response: IncomingMessage) => {
    response.setEncoding('latin1');
    response.on('data', (text: string) => {
      events += text.split('event: ').length - 1;
      if (text.includes('event: resync')) resyncs += 1;
    });
    response.on('close', reopen);
  });
  request.on('error', reopen);
}

process.on('message', (message: ReaderQuestion) => {
  if (message.type === 'read')
    for (const [index, token] of message.tokens.entries()) read(message.urls[index] ?? '', token);
  else {
    const report: ReaderReport = { events, resyncs, closed };
    process.send?.(report);
  }
});
process.on('disconnect', () => process.exit());
