/** Mistakes in the engine that the simulation must find, each of which is easily made. */
import type { Replacement } from './EngineBundle';

export interface PlantedFault extends Replacement {
  /** What the engine does with it. */
  readonly title: string;
}

const SERVICES = 'imports/business/ai/application/services';
const WRITER = `${SERVICES}/runs/durable/RunStoreWriter.ts`;
const RESTORE = `${SERVICES}/runs/durable/restoreRun.ts`;
const DECIDE = 'imports/business/ai/domain/run/decideRun.ts';
const DURABLE_RUNS = `${SERVICES}/runs/durable/DurableRuns.ts`;

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  // Leases
  {
    title: 'takes runs from owners that are silent for a quarter of a lease',
    file: `${SERVICES}/RunRecovery.ts`,
    find: 'this.leaseMs = lease;',
    replace: 'this.leaseMs = lease / 4;',
  },
  {
    title: 'counts the time in which it could not read heartbeats as silence of their owners',
    file: `${SERVICES}/RunRecovery.ts`,
    find: 'const watchedMs = Math.min(now - this.readAt, this.leaseMs * MAX_WATCHED);',
    replace: 'const watchedMs = now - this.readAt;',
  },
  {
    title: 'writes on under the same fencing token after a write whose outcome is unknown',
    file: WRITER,
    find: 'const isOwner = !this.hasLostWrite || (await this.reclaim());',
    replace: 'const isOwner = true;',
  },
  {
    title: 'claims orphans whatever their fencing token',
    file: 'imports/business/ai/infrastructure/persistence/runs/OrphanedRuns.ts',
    find: '{ _id: { $in: executionIds }, fence: fence - 1, state: { $in: UNFINISHED } },',
    replace: '{ _id: { $in: executionIds }, state: { $in: UNFINISHED } },',
  },
  // Journal
  {
    title: 'starts tools without waiting for the record of their start',
    file: WRITER,
    find: 'return isForgettable ? this.verifyOwnership() : this.flushAndVerifyLease();',
    replace: 'return isReadOnly ? this.verifyOwnership() : undefined;',
  },
  {
    title: 'calls the model without waiting for the record of the call',
    file: WRITER,
    find: "return this.owner.state.rules.durability === 'step' ? this.flushAndVerifyLease() : this.verifyOwnership();",
    replace: 'return this.verifyOwnership();',
  },
  {
    title: 'announces the end of a run before it is recorded',
    file: `${SERVICES}/runs/RunInterpreter.ts`,
    find: 'if (this.writer === undefined) {',
    replace: 'void this.writer?.finish({ endedAt: 0 });\n    if (this.writer !== undefined) {',
  },
  {
    title: 'takes a refused write of the transcript for a stored one',
    file: WRITER,
    find: 'if (!isSaved) return isEnding && (await this.hasEnded());',
    replace: '',
  },
  {
    title: 'writes calls before the transcript that they are in',
    file: WRITER,
    find: 'const isRecorded = ',
    replace: 'const isRecorded = true || ',
  },
  // Takeover
  {
    title: 'runs interrupted tools again without a review',
    file: `${SERVICES}/ToolProcessor.ts`,
    find: 'return tool === undefined || (mayHaveTakenEffect(call, tool) && tool.definition.idempotent !== true);',
    replace: 'return false;',
  },
  {
    title: 'numbers events after a takeover from the last number that was recorded',
    file: RESTORE,
    find: 'seq: run.seq + run.fence * MAX_UNRECORDED_EVENTS,',
    replace: 'seq: run.seq,',
  },
  {
    title: 'runs the calls of a turn again that another process has settled',
    file: `${SERVICES}/runs/durable/restoreRun.ts`,
    find: 'const settled = isSettled(call) ? call : settleWith(call, result.item);',
    replace: 'const settled = call;',
  },
  // Late results
  {
    title: 'delivers late results again after a takeover',
    file: RESTORE,
    find: '.filter((call) => isDeliverable(call) && acknowledged.includes(call.id) && !results.has(call.id))',
    replace: '.filter((call) => isDeliverable(call) && acknowledged.includes(call.id))',
  },
  {
    title: 'forgets after a takeover which calls were acknowledged',
    file: RESTORE,
    find: 'acknowledged: acknowledged.filter((id) => !results.has(id)),',
    replace: '',
  },
  {
    title: 'delivers a late result with every request',
    file: DECIDE,
    find: 'next.lateResults = next.lateResults.filter((id) => !taken.includes(id));',
    replace: '',
  },
  // Cancellation and decisions
  {
    title: 'does not record that a run is ending',
    file: WRITER,
    find: 'if (error !== undefined) change.error = { code: error.code, message: error.message };',
    replace: '',
  },
  {
    title: 'stores cancelled calls before the error that has cancelled them',
    file: WRITER,
    find: 'if (this.isErrorUnwritten) await this.errorStored();',
    replace: '',
  },
  {
    title: 'does not tell the owner of a run that it is cancelled',
    file: DURABLE_RUNS,
    find: 'await this.remote.sendCancel(executionId);',
    replace: '',
  },
  {
    title: 'accepts a result that comes after another one',
    file: `${SERVICES}/runs/ExternalDecisions.ts`,
    find: "return (await this.isTooLate(executionId, call, storable)) ? 'already-settled' : 'accepted';",
    replace: "return 'accepted';",
  },
  {
    title: 'deletes decisions before their effects are recorded',
    file: DURABLE_RUNS,
    find: `    interpreter.apply(action);
    if (!this.appliedCommands.has(id)) interpreter.onEnd(() => this.deleteCommand(id));`,
    replace: `    interpreter.apply(action);
    this.deleteCommand(id);`,
  },
  // Handoffs
  {
    title: 'forgets to whom a run was handed over when it takes the run over',
    file: `${SERVICES}/runs/ModelCaller.ts`,
    find: 'if (speaker?.callId === this.handedOverBy) return;',
    replace: `if (speaker?.callId === this.handedOverBy) return;
    if (this.first === undefined && context.run.current.iterations > 2) return;`,
  },
  {
    title: 'lets the first agent answer the request that has the result of the handoff',
    file: `${SERVICES}/runs/ModelCaller.ts`,
    find: `  fitHistory(): void {
    this.handOver();
    const onFitted = (): void => this.target.dispatch({ type: 'historyFitted', at: Date.now() });`,
    replace: `  fitHistory(): void {
    const onFitted = (): void => {
      this.target.dispatch({ type: 'historyFitted', at: Date.now() });
      this.handOver();
    };`,
  },
];
