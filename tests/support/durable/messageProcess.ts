/**
 * A process with runs that are sent messages, for a test that kills it. Arguments: the address of the model, a place
 * of runs, and a lease in milliseconds. On stdin, `run <id>` starts a run, `send <run> <message> <when>` sends it a
 * message whose text is its id, `finish <run> <call>` supplies what it waits for. It prints what has become of them.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../../imports/business/ai/application/services/RunRecovery';
import { ConflictError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import type { LLMResponse } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { MessageTime } from '../../../imports/business/ai/domain/types/RunMessages';
import { openRunStore } from '../../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { openDatabase } from '../../../imports/database/openDatabase';
import { CAPABILITIES } from '../../../imports/testing/capabilities';
import { retryUntilStored } from './persist';

async function main([model = '', place = '', lease = '300']: readonly string[]): Promise<void> {
  const database = await openDatabase(place.startsWith('mongodb:') ? { MONGO_URL: place } : { DATA_DIR: place });
  const store = await openRunStore(database);
  const loop = new AgenticLoop({
    provider: {
      getProviderName: () => 'parent',
      getCapabilities: () => CAPABILITIES,
      validateAccess: () => Promise.resolve({ valid: true }),
      stream: () => {
        throw new Error('Streaming is not expected here.');
      },
      generate: async (_userId, { input, turn, signal }) => {
        const sent = request(model, { method: 'POST', agent: false, ...(signal === undefined ? {} : { signal }) });
        sent.end(JSON.stringify({ run: turn?.executionId, items: input }));
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        return (await json(response)) as LLMResponse;
      },
    },
    toolExecutor: new ToolRegistry()
      .register({ name: 'job', kind: 'external', blocking: false })
      .register({ name: 'note', readOnly: true, execute: () => 'noted' }),
    runStore: store,
    leaseTimes: { lease: Number(lease), heartbeat: Number(lease) / 6 },
  });
  loop.on('event', ({ type, executionId }) => print(`e ${type} ${executionId}`));
  const recovery = new RunRecovery({ loop, store, lease: Number(lease), scanIntervalMs: Number(lease) / 6 });
  await recovery.start();
  print('ready');
  const commands: Readonly<Record<string, (run: string, id: string, when: MessageTime) => Promise<void>>> = {
    run: async (executionId) => {
      try {
        const options = { model: 'm', input: 'go', tools: ['job', 'note'], executionId };
        (await loop.start('ann', options)).done.catch(() => undefined);
      } catch (error) {
        // It was recorded before, but the request failed; the recovery continues it.
        if (!(error instanceof ConflictError)) throw error;
      }
    },
    send: async (run, messageId, when) => {
      const { result } = await loop.send(run, messageId, { messageId, when });
      print(`sent ${messageId} ${result}`);
    },
    finish: async (run, call) => {
      await loop.submitToolResult(run, call, { output: 'finished' });
      print(`finished ${run}`);
    },
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const [command = '', run = '', id = '', when = 'next'] = line.split(' ');
    // Boundary: the parent writes no other times.
    void retryUntilStored(() => commands[command]!(run, id, when as MessageTime)).catch(fail);
  }
}

/** On POSIX, pipes are written synchronously, so the line arrives even if the process is killed next. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(error: unknown): void {
  print(`failed ${error instanceof Error ? (error.stack ?? error.message).replaceAll('\n', ' | ') : String(error)}`);
}

void main(process.argv.slice(2)).catch(fail);
