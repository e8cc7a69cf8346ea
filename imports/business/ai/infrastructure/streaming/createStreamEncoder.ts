/** Creates the encoder of a target scheme. */
import type { ServedScheme } from '../../domain/types/VendorTypes';
import type { StreamEncoder, StreamEncoderOptions } from '../converters/stream/StreamEncoder';
import { SCHEMES } from './schemes';

export function createStreamEncoder(scheme: ServedScheme, options: StreamEncoderOptions): StreamEncoder {
  return new SCHEMES[scheme].Encoder(options);
}
