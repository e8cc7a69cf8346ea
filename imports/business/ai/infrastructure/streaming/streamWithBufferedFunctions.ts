/** `UnifiedStreamAdapter.processStream` as one function, for callers that have a raw vendor response. */
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
  { sourceScheme = 'openai', targetScheme = 'openai', ...options }: BufferedStreamOptions = {},
): AsyncGenerator<StreamPair, void, undefined> {
  return new UnifiedStreamAdapter(sourceScheme, targetScheme).processStream(response, options);
}
