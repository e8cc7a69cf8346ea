/** `UnifiedStreamAdapter.processStream` as one function, for callers that have a raw vendor response. */
import type { SchemeName } from '../../domain/types/VendorTypes';
import type { StreamOptions, StreamInput } from './StreamSession';
import { UnifiedStreamAdapter } from './UnifiedStreamAdapter';
import type { StreamPair } from './UnifiedStreamAdapter';

export interface BufferedStreamOptions extends StreamOptions {
  readonly sourceScheme: SchemeName;
  readonly targetScheme: SchemeName;
}

/** @throws as `UnifiedStreamAdapter.processStream` does */
export function streamWithBufferedFunctions(
  response: StreamInput,
  options: BufferedStreamOptions,
): AsyncGenerator<StreamPair, void, undefined> {
  return new UnifiedStreamAdapter(options.sourceScheme, options.targetScheme).processStream(response, options);
}
