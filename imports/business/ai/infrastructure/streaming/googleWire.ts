/** The Gemini wire, as providers and streams take it. */
import { GoogleDecoder } from './GoogleDecoder';
import { fromGoogle, toGoogle } from '../converters/GoogleConverter';
import { isReadByGoogle } from '../converters/google/GoogleMedia';
import type { Wire } from '../converters/Wire';

export const googleWire: Wire = {
  name: 'gemini',
  toRequest: toGoogle,
  fromResponse: fromGoogle,
  createDecoder: (context) => new GoogleDecoder(context),
  fetchesUrl: (part, quirks) => quirks.fetchesImageUrls || isReadByGoogle(part),
};
