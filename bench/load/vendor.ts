/** A simulated vendor of OpenAI's API whose runs have four turns of two calls each, and an answer. It streams. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callsOf, RESULT_MARK, streamOf } from '../responses';

const TURNS = 4;
const CALLS_PER_TURN = 2;
/** The deltas of the answer. */
const DELTAS = 16;

interface StreamedItem {
  readonly id: string;
  readonly arguments: string;
}

const calls = Array.from({ length: TURNS }, (_each, turn) => framesOf(callsOf('openai', CALLS_PER_TURN, turn)));
const answer = streamOf('openai', DELTAS).complete;

function framesOf(json: Buffer): Buffer {
  const response = JSON.parse(json.toString()) as { readonly output: readonly StreamedItem[] };
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...response.output.flatMap((item, output_index) => [
      {
        type: 'response.output_item.added',
        output_index,
        item: { ...item, status: 'in_progress', arguments: '' },
      },
      {
        type: 'response.function_call_arguments.delta',
        output_index,
        item_id: item.id,
        delta: item.arguments,
      },
      {
        type: 'response.function_call_arguments.done',
        output_index,
        item_id: item.id,
        arguments: item.arguments,
      },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response },
  ];
  return Buffer.from(
    events
      .map(
        (event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
      )
      .join(''),
  );
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const results = Buffer.concat(chunks).toString('latin1').split(RESULT_MARK.openai).length - 1;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.end(calls[results / CALLS_PER_TURN] ?? answer);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
