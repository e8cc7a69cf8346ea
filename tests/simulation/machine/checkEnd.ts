/** What must hold after a schedule, whatever has happened in it. */
import { isDeliverable, isSettled } from '../../../imports/business/ai/domain/entities/Tool';
import { textOfContent } from '../../../imports/business/ai/domain/entities/Content';
import type { ErrorCode } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { readTranscript } from './readTranscript';
import type { ReadTranscript } from './readTranscript';
import { INPUT, isAnswer, TOKENS_PER_CALL } from './ScriptedModel';
import { toolOf } from './simulatedTools';
import { ensure } from './Violation';
import type { World } from './World';

/** @throws Violation */
export function checkEnd(world: World): void {
  checkOver(world);
  checkEvents(world);
  const read = readTranscript(world.store.run.transcript);
  checkCalls(world, read);
  checkMessages(world, read);
  checkOutcome(world, read);
  if (world.keepsEvents) checkReplay(world);
}

/** The run has ended: everybody who could act has. */
function checkOver({ store, processes, sessions }: World): void {
  ensure(store.hasEnded, () => {
    const phases = sessions.map(
      ({ process, state }) => `${process.name}${process.isDead ? ' (dead)' : ''} ${state.phase}`,
    );
    const calls = [...store.calls.keys()].map((id) => `${id} ${store.call(id)!.state}`);
    return `The run is ${store.run.state}, and nothing is to come: ${phases.join(', ')}; ${calls.join(', ')}`;
  });
  for (const { isDead, session, name } of processes)
    ensure(isDead || session === undefined || session.isOver, () => `${name} still has the run.`);
}

function checkEvents({ sessions, store }: World): void {
  const ends = sessions.filter(({ order }) => order.end !== undefined);
  ensure(ends.length <= 1, () => 'The run ends twice.');
  for (const { order } of ends)
    ensure(
      order.end === `run:${store.run.state}`,
      () => `${order.end!} was emitted, but the run is ${store.run.state}.`,
    );
  const ordered = sessions.map(({ order }) => order).toSorted((a, b) => a.first - b.first);
  for (let index = 1; index < ordered.length; index += 1)
    ensure(
      ordered[index]!.first > ordered[index - 1]!.last,
      () => `Numbers of events repeat from ${ordered[index]!.first}.`,
    );
}

function checkCalls(world: World, { calls, answers }: ReadTranscript): void {
  const { store, requests, sessions } = world;
  const { state: status } = store.run;
  const isTakenOver = sessions.length > 1;
  for (const id of store.calls.keys()) ensure(calls.has(id), () => `${id} is stored, but not in the transcript.`);
  for (const [id, there] of calls) {
    const call = store.call(id);
    ensure(call !== undefined || status !== 'completed', () => `${id} is not stored.`);
    if (call === undefined) continue;
    ensure(isSettled(call), () => `${id} is ${call.state} although the run has ended.`);
    ensure(there.results <= 1, () => `The result of ${id} is there ${there.results} times.`);
    const isOwn = call.state === 'completed' && call.result === `result of ${id}`;
    ensure(!isOwn || world.effectsOf(id) > 0, () => `${id} has a result without an effect.`);
    if (there.results === 1 && call.state === 'completed')
      ensure(there.output === call.result, () => `The model is told another result of ${id}.`);
    if (status === 'completed') {
      ensure(call.state !== 'cancelled', () => `${id} is cancelled although the run has completed.`);
      const isSilent = there.isAcknowledged && toolOf(there.name).delivery === 'silent';
      ensure(there.results === 1 || isSilent, () => `The result of ${id} was never delivered.`);
    }
    const { deliveredIn } = call;
    const later = answers.filter((at) => there.results === 1 && at > there.resultAt);
    if (deliveredIn === undefined) {
      ensure(later.length === 0 || !isDeliverable(call), () => `${id} was delivered, but names no response.`);
      continue;
    }
    const length = requests.get(deliveredIn);
    // A mark may be stored before the response that it names, which is lost if two owners in a row die.
    const isLost = sessions.length > 2 && length !== undefined && length > there.resultAt;
    ensure(
      isLost || (length !== undefined && (isTakenOver ? later : later.slice(0, 1)).includes(length)),
      () => `${id} was delivered in the answer at ${later[0]}, and names ${deliveredIn} at ${length}.`,
    );
  }
}

/** Messages are delivered once, in the order of their kinds, as they were last accepted, and answered. */
function checkMessages({ accepted, store }: World, { answers }: ReadTranscript): void {
  const { transcript, state, error } = store.run;
  const texts = transcript.flatMap((item, index) =>
    item.type === 'message' && item.role === 'user' && index >= INPUT.length
      ? [{ text: textOfContent(item.content), index }]
      : [],
  );
  let lastNow = -1;
  let lastAfter = -1;
  for (const [id, { text, when, isMoved }] of [...accepted].toSorted(([, a], [, b]) => a.place - b.place)) {
    const found = texts.filter((each) => each.text === text);
    ensure(found.length <= 1, () => `${id} is in the transcript ${found.length} times.`);
    const queued = store.queue.find(({ messageId }) => messageId === id)!;
    const isDelivered = found.length === 1;
    ensure(isDelivered || state !== 'completed', () => `${id} is lost.`);
    ensure(isDelivered === (queued.state === 'done'), () => `${id} is ${queued.state} in the queue.`);
    if (!isDelivered) continue;
    const { index } = found[0]!;
    ensure(error !== undefined || (answers.at(-1) ?? -1) > index, () => `${id} is not answered.`);
    if (isMoved) continue;
    const last = when === 'after' ? Math.max(lastNow, lastAfter) : lastNow;
    ensure(index > last, () => `${id} comes before one that was sent earlier.`);
    if (when === 'after') lastAfter = index;
    else lastNow = index;
  }
  ensure(texts.length <= accepted.size, () => 'The transcript has messages that were refused, or withdrawn.');
}

function checkOutcome(
  { plan, store, sessions, storedError, requests }: World,
  { answers, failedTurns }: ReadTranscript,
): void {
  const { run } = store;
  ensure(
    (run.state === 'completed') === (run.error === undefined),
    () => `The run is ${run.state} with the error ${run.error?.code}.`,
  );
  ensure(
    storedError === undefined || storedError.code === run.error?.code,
    () => `The run was about to end with ${storedError?.code}, and ended with ${run.error?.code}.`,
  );
  const { limits } = plan;
  ensure(run.usage.total_tokens >= answers.length * TOKENS_PER_CALL, () => 'Tokens are not counted.');
  const isPlain = sessions.length === 1 && plan.faults.length === 0 && plan.messages.length === 0;
  ensure(
    !isPlain || run.usage.total_tokens === requests.size * TOKENS_PER_CALL,
    () => `${requests.size} answers are counted as ${run.usage.total_tokens} tokens.`,
  );
  ensure(
    !isPlain || run.iterations === answers.length,
    () => `${answers.length} answers took ${run.iterations} iterations.`,
  );
  if (run.error === undefined) {
    ensure(isAnswer(run.transcript.at(-1)!), () => 'The run completes before the model has answered what it was sent.');
    const last = plan.turns[answers.length - 1];
    ensure(last === undefined || last.kind === 'answer', () => 'The run completes before the model has answered.');
    return;
  }
  const has = (...kinds: readonly string[]): boolean => plan.faults.some(({ kind }) => kinds.includes(kind));
  const reasons: Partial<Record<ErrorCode, boolean>> = {
    aborted: has('cancel', 'cancelAtEvent'),
    timeout: has('deadline'),
    'vendor-error': has('model'),
    'budget-exceeded': limits.budget !== undefined,
    'max-iterations': run.iterations >= limits.maxIterations,
    incomplete: plan.turns[answers.length - 1]?.kind === 'cutOff',
    'tool-loop': failedTurns >= limits.maxToolErrors,
  };
  ensure(reasons[run.error.code] === true, () => `The run ended with ${run.error!.code} for no reason.`);
}

/** The same events give the same states. */
function checkReplay({ machine, sessions }: World): void {
  for (const session of sessions) {
    let state = session.initial;
    for (const event of session.events) ({ state } = machine.decideRun(state, event));
    ensure(show(state) === show(session.state), () => `${session.process.name}'s events give another state.`);
  }
}

function show(state: object): string {
  return JSON.stringify(state, (_key, value: unknown) =>
    value instanceof Set || value instanceof Map ? [...(value as Iterable<unknown>)] : value,
  );
}
