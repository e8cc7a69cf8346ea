/**
 * A plain-Node server in a process of its own, whose tools the parent controls: each reports that it was called. `wait`
 * returns when the parent sends a message. Those of the first process never end otherwise: `careful` stops without an
 * effect when its signal fires, `keyed` and `unkeyed` just fail then, and `deaf` does not listen. In later processes,
 * all but `wait` return at once. Environment: as for the server; FIRST is set for the first process, and LACKS names a
 * tool that the process does not have.
 */
import { ToolError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { ToolCallContext } from '../../imports/business/ai/domain/interfaces/IToolExecutor';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { runServer } from '../../imports/host/node/runServer';

export interface ToolStart {
  readonly tool: string;
  readonly key: string;
}

const isFirst = process.env['FIRST'] !== undefined;

type Outcome = (signal: AbortSignal) => Promise<unknown>;

const never = new Promise<never>(() => undefined);
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  wait: () => new Promise((resolve) => process.once('message', resolve)),
  careful: async (signal) => {
    await untilAborted(signal);
    throw new ToolError('interrupted', 'Nothing was done yet.');
  },
  keyed: async (signal) => {
    await untilAborted(signal);
    throw new Error('The connection was closed.');
  },
  unkeyed: async (signal) => {
    await untilAborted(signal);
    throw new Error('The connection was closed.');
  },
  deaf: () => never,
};

const tools = new ToolRegistry();
for (const [name, outcome] of Object.entries(OUTCOMES).filter(([each]) => each !== process.env['LACKS']))
  tools.register({
    name,
    description: `The tool ${name}.`,
    parameters: { type: 'object', properties: {} },
    idempotent: name === 'keyed',
    execute: (_args: unknown, { signal, idempotencyKey }: ToolCallContext) => {
      process.send?.({ tool: name, key: idempotencyKey } satisfies ToolStart);
      return isFirst || name === 'wait' ? outcome(signal) : 'done';
    },
  });

void runServer({ tools, dashboard: false }).then(() => process.send?.('ready'));
