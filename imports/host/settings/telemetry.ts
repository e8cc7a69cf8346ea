/** What is reported to OpenTelemetry. */
import { CONVENTIONS_VERSIONS } from '../../business/ai/infrastructure/telemetry/semanticConventions';
import type { TelemetrySettings } from '../../business/ai/infrastructure/telemetry/Telemetry';

export const TELEMETRY_VARIABLES = ['TELEMETRY_CONTENT', 'TELEMETRY_CONVENTIONS'] as const;

/**
 * TELEMETRY_CONTENT (`on` or `off`; default off) and TELEMETRY_CONVENTIONS (default the newest version).
 * @param problems receives what is invalid
 */
export function readTelemetrySettings(
  valueOf: (name: (typeof TELEMETRY_VARIABLES)[number]) => string | undefined,
  problems: string[],
): TelemetrySettings | undefined {
  const content = valueOf('TELEMETRY_CONTENT')?.toLowerCase();
  if (content !== undefined && content !== 'on' && content !== 'off')
    problems.push('TELEMETRY_CONTENT must be on or off');
  const version = valueOf('TELEMETRY_CONVENTIONS');
  const conventions = CONVENTIONS_VERSIONS.find((each) => each === version);
  if (version !== undefined && conventions === undefined)
    problems.push(`TELEMETRY_CONVENTIONS must be ${CONVENTIONS_VERSIONS.join(' or ')}`);
  if (content === undefined && conventions === undefined) return undefined;
  return { captureContent: content === undefined ? undefined : content === 'on', conventions };
}
