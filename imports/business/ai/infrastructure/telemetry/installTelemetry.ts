/** Has loops and managers that are created without an AI module report to OpenTelemetry, too. */
import { setInstrumentation } from '../../domain/interfaces/Instrumentation';
import { Telemetry } from './Telemetry';

let telemetry: Telemetry | undefined;

export function installTelemetry(): void {
  setInstrumentation(() => (telemetry ??= new Telemetry()));
}
