/** Creates the encoder of a target scheme. */
import type { SchemeName } from '../../domain/types/VendorTypes';
import type { StreamEncoder, StreamEncoderOptions } from '../converters/stream/StreamEncoder';
import { SCHEMES } from './schemes';

export function createStreamEncoder(scheme: SchemeName, options: StreamEncoderOptions): StreamEncoder {
  return new SCHEMES[scheme].Encoder(options);
}
