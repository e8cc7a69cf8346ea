/** Publishes the events of runs. */
import type { AgentEvent, AgentEventType } from '../../../domain/types/AgentEvents';

export interface RunPublisher {
  /** Whether anybody receives events of this type. Others need not be published. */
  hears(type: AgentEventType): boolean;
  publish(event: AgentEvent): void;
}
