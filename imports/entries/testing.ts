/** `bolide/testing`: the vendor simulator, for tests without network. */
export type { Fault } from '../simulator/Fault';
export type { RecordedRequest } from '../simulator/RecordedRequest';
export type { ScriptedResponse } from '../simulator/ScriptedResponse';
export type { Simulator, SimulatorOptions } from '../simulator/Simulator';
export { startSimulator } from '../simulator/startSimulator';
