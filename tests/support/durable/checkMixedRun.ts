/** Checks the guarantees of a mixed run, whatever happened to the processes that executed it. */
import { expect } from 'chai';
import type { StoredRun } from '../../../imports/business/ai/domain/interfaces/RunStore';
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { checkGrowth, checkTranscript } from '../checkTranscript';
import { CALLS } from './mixedModel';
import { KEYED } from './mixedTools';

/**
 * @param effects `tool key`, of all runs
 * @param requests the inputs of the run's model calls
 * @param settledByPeople `run:call` of the calls whose result a reviewer submitted without checking, so that they may
 *   never have run
 */
export function checkMixedRun(
  { run, calls }: StoredRun,
  effects: readonly string[],
  requests: readonly (readonly Item[])[],
  settledByPeople: ReadonlySet<string> = new Set(),
): void {
  expect(run.state).to.equal('completed');
  expect(run.response?.output_text).to.equal(`received ${CALLS.length}`);
  // Vendors accept every history, and each one extends the last: nothing is delivered twice, and nothing is lost.
  for (const [index, request] of requests.entries()) {
    checkTranscript(request);
    const next = requests[index + 1];
    if (next !== undefined) checkGrowth(request, next);
  }
  expect([...deliveredCallIds(run.transcript)].sort()).to.deep.equal(CALLS.map(([, id]) => id).sort());
  // Each effect happened at least once; at most once unless the remote service knows the call by its key.
  for (const [name, id] of CALLS) {
    if (name === 'webhook') continue;
    const times = effects.filter((effect) => effect === `${name} ${run.executionId}:${id}`).length;
    if (KEYED.includes(name)) expect(times, `${name} ${id}`).to.be.at.least(1);
    else expect(times, `${name} ${id}`).to.be.oneOf(settledByPeople.has(`${run.executionId}:${id}`) ? [0, 1] : [1]);
  }
  expect(Object.fromEntries(calls.map(({ id, state }) => [id, state]))).to.deep.equal(
    Object.fromEntries(CALLS.map(([, id]) => [id, 'completed'])),
  );
  expect(calls.filter(({ deliveredIn }) => deliveredIn === undefined)).to.deep.equal([]);
}

/**
 * The calls of an unfinished run that were started and have no recorded outcome, so that it is unknown whether they
 * ran. The transcript may contain an outcome before the call does.
 */
export function uncertainCalls(stored: StoredRun | undefined): readonly string[] {
  if (stored === undefined || stored.run.endedAt !== undefined) return [];
  const delivered = deliveredCallIds(stored.run.transcript);
  return stored.calls
    .filter(
      ({ id, state, name }) =>
        state === 'executing' && !delivered.includes(id) && !KEYED.includes(name) && name !== 'webhook',
    )
    .map(({ id }) => id);
}

/** Ids of the calls whose result is in the transcript. */
function deliveredCallIds(transcript: readonly Item[]): readonly string[] {
  return transcript.flatMap((item) =>
    item.type === 'function_call_output' && item.status !== 'in_progress' ? [item.call_id] : [],
  );
}
