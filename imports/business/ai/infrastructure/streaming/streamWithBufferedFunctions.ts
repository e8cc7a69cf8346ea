/** `UnifiedStreamAdapter.processStream` as one function, for callers that have a raw vendor response. */
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { SchemeName, ServedScheme } from '../../domain/types/VendorTypes';
import type { StreamOptions, StreamInput } from './StreamSession';
import { UnifiedStreamAdapter } from './UnifiedStreamAdapter';
import type { StreamPair } from './UnifiedStreamAdapter';

export interface BufferedStreamOptions extends StreamOptions {
  /** Default: `openai`. */
  readonly sourceScheme?: SchemeName;
  /** Default: `openai`. */
  readonly targetScheme?: ServedScheme;
}

/** @throws as `UnifiedStreamAdapter.processStream` does */
export function streamWithBufferedFunctions(
  response: StreamInput,
  options?: BufferedStreamOptions,
): AsyncGenerator<StreamPair, void, undefined>;
export function streamWithBufferedFunctions(
  response: StreamInput,
  sourceScheme: SchemeName,
  targetScheme?: ServedScheme,
  options?: StreamOptions,
): AsyncGenerator<StreamPair, void, undefined>;
export function streamWithBufferedFunctions(
  response: StreamInput,
  given: SchemeName | BufferedStreamOptions = {},
  target?: ServedScheme,
  others: StreamOptions = {},
): AsyncGenerator<StreamPair, void, undefined> {
  const { sourceScheme, targetScheme, ...options }: BufferedStreamOptions =
    typeof given === 'string' ? { ...others, sourceScheme: given, ...omitUndefined({ targetScheme: target }) } : given;
  return new UnifiedStreamAdapter(sourceScheme, targetScheme).processStream(response, options);
}
