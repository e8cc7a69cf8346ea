/** Gemini's Interactions API as a `Wire`. */
import { isFetchedByGoogle } from '../google/media';
import type { Wire } from '../Wire';
import { interactionsSlices } from './InteractionsConverter';
import { fromInteractions } from './response/response';
import { InteractionsDecoder } from './stream/InteractionsDecoder';

export const interactionsWire: Wire = {
  name: 'interactions',
  toRequest: interactionsSlices,
  fromResponse: (body, context) => fromInteractions(body, context),
  createDecoder: (context) => new InteractionsDecoder(context),
  fetchesUrl: (part, quirks) => quirks.fetchesImageUrls || isFetchedByGoogle(part),
};
