import { expect } from 'chai';
import { FamilyFrames } from '../../../../imports/api/runs/FamilyFrames';
import type { CallOfRun } from '../../../../imports/business/ai/domain/types/AgentEvents';
import { RunEventLog } from '../../../../imports/business/ai/infrastructure/events/RunEventLog';
import type { LoggedEvent } from '../../../../imports/business/ai/infrastructure/events/RunEventLog';
import { deferred } from '../../../support/deferred';
import { until } from '../../../support/until';

const PATHS: Readonly<Record<string, readonly CallOfRun[]>> = {
  child: [{ executionId: 'root', callId: 'c' }],
  grandchild: [
    { executionId: 'root', callId: 'c' },
    { executionId: 'child', callId: 'd' },
  ],
};

function frames(
  pathTo: (executionId: string) => Promise<readonly CallOfRun[] | undefined>,
  { maxQueuedLength = 10_000, resume = (_id: number): void => undefined } = {},
) {
  const sent: string[] = [];
  const errors: unknown[] = [];
  const family = new FamilyFrames({
    executionId: 'root',
    pathTo,
    maxQueuedLength,
    resume,
    send: ({ data }) => {
      const { executionId, type, path } = JSON.parse(data) as Record<string, unknown>;
      sent.push(`${String(executionId)} ${String(type)}`);
      expect(path).to.deep.equal(PATHS[String(executionId)]);
    },
    onError: (error) => void errors.push(error),
  });
  const push = (executionId: string, type: string, fields: object = {}, id = 0): void =>
    // Boundary: the members that are read of an event.
    family.push({ executionId, type, id, data: JSON.stringify({ executionId, type, ...fields }) } as LoggedEvent);
  return { sent, errors, push, family };
}

const BELOW = { parentExecutionId: 'child', parentCallId: 'd' };

describe('the events of a run and of those below it', () => {
  it('are sent in their order where the run above has begun unseen, or its beginning comes later', async () => {
    const lookUps: string[] = [];
    const { sent, push } = frames(async (executionId) => {
      lookUps.push(executionId);
      return PATHS[executionId];
    });
    push('stranger', 'llm:delta');
    push('grandchild', 'run:started', BELOW);
    push('root', 'iteration:start');
    push('child', 'run:started', { parentExecutionId: 'root', parentCallId: 'c' });
    push('other', 'run:started');
    push('other', 'run:completed');
    push('grandchild', 'run:completed', BELOW);
    await until(() => sent.length === 4);
    push('stranger', 'run:completed');
    expect(sent).to.deep.equal([
      'grandchild run:started',
      'root iteration:start',
      'child run:started',
      'grandchild run:completed',
    ]);
    expect(lookUps).to.deep.equal(['stranger', 'grandchild']);
  });

  it('wait in the log, where they are read on, once too many wait for a run to be looked up', async () => {
    const found = deferred<readonly CallOfRun[] | undefined>();
    const log = Array.from({ length: 40 }, (_, index) => [index % 4 === 0 ? 'grandchild' : 'root', index] as const);
    const resumed: number[] = [];
    const { sent, push } = frames(() => found.promise, {
      maxQueuedLength: 400,
      resume: (last) => {
        resumed.push(last);
        for (const [id, index] of log.slice(last + 1)) push(id, `e${index}`, {}, index);
      },
    });
    for (const [id, index] of log) push(id, `e${index}`, {}, index);
    found.resolve(PATHS['grandchild']);
    await until(() => sent.length >= log.length);
    expect(sent).to.deep.equal(log.map(([id, index]) => `${id} e${index}`));
    // What was held until then is no more than is allowed.
    expect(resumed).to.deep.equal([11]);
  });

  it('are read on from a log that has had later events of another user from the same process', async () => {
    const found = deferred<readonly CallOfRun[] | undefined>();
    const remote = { self: 'a0000000', lateness: 1_000, watch: () => () => undefined };
    const log = new RunEventLog(undefined, remote);
    const gaps: string[] = [];
    const { sent, family } = frames(() => found.promise, {
      maxQueuedLength: 1,
      resume: (id) => log.repeat(subscriber, id),
    });
    const subscriber = {
      userId: 'ann',
      accepts: ({ userId }: LoggedEvent) => userId === 'ann',
      event: (event: LoggedEvent) => family.push(event),
      gap: () => void gaps.push('gap'),
    };
    log.subscribe(subscriber);
    const add = (number: number, userId: string, executionId: string): void => {
      const event = { type: 'iteration:start', iteration: number, executionId, at: Date.now(), seq: 0 } as const;
      log.addRemote('b0000000', { number, event }, userId);
    };
    add(100, 'bob', 'other');
    add(90, 'ann', 'grandchild');
    add(97, 'ann', 'root');
    found.resolve(PATHS['grandchild']);
    await new Promise((resolve) => setImmediate(resolve));
    expect([sent, gaps]).to.deep.equal([['grandchild iteration:start', 'root iteration:start'], []]);
  });

  it('end when it cannot be read whose run it is', async () => {
    const { sent, errors, push } = frames(() => Promise.reject(new Error('The store is down.')));
    push('grandchild', 'run:started', BELOW);
    push('root', 'iteration:start');
    await until(() => errors.length === 1);
    push('root', 'llm:delta');
    expect(sent).to.deep.equal([]);
  });
});
