/** `bolide/testing`: the vendor simulator and a scripted provider, for tests without network. */
import { requireNode } from '../library/requireNode';
export type { Fault } from '../simulator/Fault';
export type { RecordedRequest } from '../simulator/RecordedRequest';
export type { ScriptedResponse } from '../simulator/ScriptedResponse';
export type { Simulator, SimulatorOptions } from '../simulator/Simulator';
export { startSimulator } from '../simulator/startSimulator';
export {
  answer,
  callItem,
  calling,
  eventsOf,
  incomplete,
  refusing,
  response,
  textItem,
  usage,
} from '../testing/responses';
export { ScriptedProvider, untilAborted } from '../testing/ScriptedProvider';
export type { ScriptedCall, ScriptedOutcome, ScriptedProviderOptions, ScriptedStep } from '../testing/ScriptedProvider';

requireNode();
