/** The Gemini API as a `Wire`. */
import { GoogleDecoder } from './stream/GoogleDecoder';
import { fromGoogle, googleSlices } from './GoogleConverter';
import { isFetchedByGoogle } from './media';
import type { Wire } from '../Wire';

export const googleWire: Wire = {
  name: 'gemini',
  toRequest: googleSlices,
  fromResponse: fromGoogle,
  createDecoder: (context) => new GoogleDecoder(context),
  fetchesUrl: (part, quirks) => quirks.fetchesImageUrls || isFetchedByGoogle(part),
};
