/** Streams of runs over real connections: one that is silent, and one whose client does not read. */
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Response } from 'express';
import { followRun } from '../../../../imports/api/chat/followRun';
import { StoredRuns } from '../../../../imports/api/chat/StoredRuns';
import { streamEvents } from '../../../../imports/api/chat/streamEvents';
import { toLLMError } from '../../../../imports/api/http/toLLMError';
import { AgenticLoop } from '../../../../imports/business/ai/application/services/AgenticLoop';
import { LiveRunEvents } from '../../../../imports/business/ai/infrastructure/events/LiveRunEvents';
import { MemoryRunStore } from '../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { UIMessageEncoder } from '../../../../imports/interop/aiSdk/UIMessageEncoder';
import { UIMessageStreamEncoder } from '../../../../imports/interop/aiSdk/UIMessageStreamEncoder';
import { answer, calling } from '../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../imports/testing/ScriptedProvider';
import { deferred } from '../../../support/deferred';

const EXECUTION_ID = 'run-1';
const LONG = 'All is well. '.repeat(1_000_000);

describe('streamEvents', () => {
  let server: Server;
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  async function open(text: string) {
    const gate = deferred<string>();
    const streamed = deferred();
    const runs = new MemoryRunStore();
    const tools = new ToolRegistry().register({ name: 'slow', execute: () => gate.promise });
    const loop = new AgenticLoop({
      provider: new ScriptedProvider([calling({ name: 'slow' }), answer(text)]),
      toolExecutor: tools,
      runStore: runs,
    });
    const live = new LiveRunEvents();
    loop.on('event', live.record);
    const run = await loop.start('ann', {
      executionId: EXECUTION_ID,
      model: 'scripted-model',
      input: 'go',
      tools: ['slow'],
    });
    const handle = async (response: Response): Promise<void> => {
      const left = new AbortController();
      response.on('close', () => left.abort(new Error('The client has left.')));
      const context = { response, signal: left.signal, hasLeft: () => left.signal.aborted };
      const events = followRun({ stored: new StoredRuns({ runs, loop }), live, tools }, EXECUTION_ID, {
        signal: left.signal,
      });
      await streamEvents(context, events, new UIMessageStreamEncoder(new UIMessageEncoder()), {
        keepAliveAfter: 5,
        maxConnectionTime: 60_000,
        closing: new AbortController().signal,
        toError: (thrown) => toLLMError(thrown, () => undefined),
      });
    };
    server = createServer((_request, plain) => {
      // What Express adds and the stream uses.
      const response = Object.assign(plain, {
        set(headers: Readonly<Record<string, string>>) {
          for (const [name, value] of Object.entries(headers)) plain.setHeader(name, value);
        },
      }) as unknown as Response;
      handle(response).then(streamed.resolve, streamed.reject);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [response] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage];
    return { gate, run, response, streamed: streamed.promise };
  }

  it('sends comments while a tool runs', async () => {
    const { gate, response, streamed } = await open('Done');
    let text = '';
    for await (const part of response) {
      text += String(part);
      if (text.includes(': keep-alive\n\n')) gate.resolve('late');
    }
    expect(text)
      .to.contain(': keep-alive\n\n')
      .and.contain('"Done"')
      .and.match(/data: \[DONE\]\n\n$/);
    await streamed;
  });

  it('does not hold up the run of a client that does not read, and lets it read everything later', async () => {
    const { gate, run, response, streamed } = await open(LONG);
    gate.resolve('at once');
    expect((await run.done).response.output_text).to.equal(LONG);
    let length = 0;
    for await (const part of response) length += (part as Buffer).length;
    expect(length).to.be.greaterThan(LONG.length);
    await streamed;
  });
});
