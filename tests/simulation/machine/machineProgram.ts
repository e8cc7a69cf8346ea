/** The pure part of the run engine, as the simulation of the machine uses it: the entry point of its bundles. */
export { isAtRest, isIdle, isOver, isStepping, newRun } from '../../../imports/business/ai/domain/run/ActiveRun';
export { CallTable } from '../../../imports/business/ai/domain/run/CallTable';
export { decideRun } from '../../../imports/business/ai/domain/run/decideRun';
export { restoreRun } from '../../../imports/business/ai/application/services/runs/durable/restoreRun';
export { runProgress } from '../../../imports/business/ai/application/services/runs/durable/runProgress';
export {
  changedCalls,
  isRunChanged,
} from '../../../imports/business/ai/application/services/runs/durable/stateChanges';
