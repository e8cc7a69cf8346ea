/** Models as people choose them. */
import type { ModelCapabilities } from '../interfaces/ILLMProvider';

/** A model of a provider, with its limits, prices and abilities. */
export interface ModelView extends ModelCapabilities {
  /** `provider/model`, or `provider` alone for a default that only the vendor knows; valid as a request's `model`. */
  readonly id: string;
  readonly providerId: string;
  /** Absent: the vendor's own default. */
  readonly model?: string;
  /** Used by requests that name no model. */
  readonly isDefault: boolean;
}
