/**
 * A process that runs a tool of an MCP server for a stored run, for tests that kill it. Arguments: the data directory,
 * the server's URL and the tool's name. The lines `run <id>` and `submit <id> <json>` on stdin start a run and answer
 * its call. It prints each event, each model call with the number of late results in it, and the end.
 */
import { createInterface } from 'node:readline';
import { inputOf } from '../../../imports/business/ai/domain/entities/Tool';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../../imports/business/ai/application/services/RunRecovery';
import { mcp } from '../../../imports/business/mcp/mcp';
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { openDatabase } from '../../../imports/database/openDatabase';
import { openRunStore } from '../../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { until } from '../until';
import { CAPABILITIES } from '../../../imports/testing/capabilities';
import { answer, calling } from '../../../imports/testing/responses';

const LEASE_MS = 300;

async function main([place = '', url = '', tool = '']: readonly string[]): Promise<void> {
  const store = await openRunStore(await openDatabase({ DATA_DIR: place }));
  const registry = new ToolRegistry();
  await registry.addSource(mcp({ name: 't', url, allowPrivateHosts: ['127.0.0.1'] }));
  const loop = new AgenticLoop({
    provider: {
      getProviderName: () => 'scripted',
      getCapabilities: () => CAPABILITIES,
      validateAccess: () => Promise.resolve({ valid: true }),
      stream: () => {
        throw new Error('Streaming is not expected here.');
      },
      generate: (_userId, { input }) => {
        // The loop sends items.
        const items = input as readonly Item[];
        const late = items.filter((item) => item.type === 'function_call_output' && item.deferred === true).length;
        print(`model ${late}`);
        const hasCalled = items.some((item) => item.type === 'function_call');
        return Promise.resolve(hasCalled ? answer('ok') : calling({ name: tool, call_id: 'a' }));
      },
    },
    toolExecutor: registry,
    runStore: store,
    leaseTimes: { lease: LEASE_MS, heartbeat: LEASE_MS / 6 },
  });
  loop.on('event', ({ type }) => print(`e ${type}`));
  loop.on('run:completed', ({ executionId }) => {
    const call = loop.getExecutionContext(executionId)?.toolCalls.get('a');
    print(`result ${call?.state === 'completed' ? call.result : String(call?.state)}`);
  });
  await new RunRecovery({ loop, store, lease: LEASE_MS, scanIntervalMs: LEASE_MS / 6 }).start();
  print('ready');
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, executionId = '', json = ''] = line.split(' ');
    if (command === 'submit') {
      await until(() => {
        const call = loop.getExecutionContext(executionId)?.toolCalls.get('a');
        return call !== undefined && inputOf(call) !== undefined;
      });
      await loop.submitToolResult(executionId, 'a', { output: JSON.parse(json) as unknown });
    } else await loop.start('ann', { model: 'm', input: 'go', tools: [tool], executionId });
  }
}

/** On POSIX, pipes are written synchronously, so the line arrives even if the process is killed next. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  print(`failed ${String(error)}`);
  process.exit(1);
});
