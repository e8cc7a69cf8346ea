/** What is promised of a mixed run, whatever happened to the processes that ran it. */
import { expect } from 'chai';
import type { StoredRun } from '../../../imports/business/ai/domain/interfaces/RunStore';
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { checkGrowth, checkTranscript } from '../checkTranscript';
import { CALLS } from './mixedModel';
import { KEYED } from './mixedTools';

/**
 * @param effects `tool key`, of all runs
 * @param requests what the model was sent for this run
 * @param settledByPeople `run:call` of those whose result somebody gave without looking, so that they may never
 *   have run
 */
export function checkMixedRun(
  { run, calls }: StoredRun,
  effects: readonly string[],
  requests: readonly (readonly Item[])[],
  settledByPeople: ReadonlySet<string> = new Set(),
): void {
  expect(run.state).to.equal('completed');
  expect(run.response?.output_text).to.equal(`told ${CALLS.length}`);
  // The model was sent histories that vendors accept, each the last one and more: nothing is told twice, nothing is
  // lost.
  for (const [index, request] of requests.entries()) {
    checkTranscript(request);
    const next = requests[index + 1];
    if (next !== undefined) checkGrowth(request, next);
  }
  expect([...toldOutputs(run.transcript)].sort()).to.deep.equal(CALLS.map(([, id]) => id).sort());
  // Effects: each at least once, each at most once but for those that carry the remote's key.
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
 * Calls of which nobody can know whether they ran: those of a run that goes on, begun without a trace of their end.
 * The transcript may know of it before the call does.
 */
export function uncertainCalls(whole: StoredRun | undefined): readonly string[] {
  if (whole === undefined || whole.run.endedAt !== undefined) return [];
  const told = toldOutputs(whole.run.transcript);
  return whole.calls
    .filter(
      ({ id, state, name }) =>
        state === 'executing' && !told.includes(id) && !KEYED.includes(name) && name !== 'webhook',
    )
    .map(({ id }) => id);
}

/** Ids of calls whose outcome stands in the transcript. */
function toldOutputs(transcript: readonly Item[]): readonly string[] {
  return transcript.flatMap((item) =>
    item.type === 'function_call_output' && item.status !== 'in_progress' ? [item.call_id] : [],
  );
}
