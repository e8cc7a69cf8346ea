/** Settings of the guardrails that Bolide has itself. Each is off unless it is set. */

export type PiiType = 'email' | 'phone' | 'iban' | 'credit_card' | 'ssn' | 'ip';
export type GuardrailScope = 'request' | 'response';

export interface GuardrailSettings {
  readonly pii?: PiiSettings;
  readonly bannedWords?: BannedWordsSettings;
  readonly maximumSize?: MaximumSizeSettings;
  readonly promptInjection?: PromptInjectionSettings;
}

export interface PiiSettings {
  /** Default: all. */
  readonly types?: readonly PiiType[];
  /** Where personal data is masked. Default: in both. */
  readonly in?: readonly GuardrailScope[];
}

export interface BannedWordsSettings {
  /** Words and phrases, matched as a whole, in any case. */
  readonly words: readonly string[];
  /** Default: `deny`. */
  readonly action?: 'deny' | 'mask';
  /** Default: in both. */
  readonly in?: readonly GuardrailScope[];
}

export interface MaximumSizeSettings {
  /** Characters of all texts of a request. */
  readonly characters?: number;
  /** Estimated from the characters. */
  readonly tokens?: number;
  /** Bytes of the images and files that a request contains. */
  readonly attachmentBytes?: number;
}

export interface PromptInjectionSettings {
  /** Default: `deny`. */
  readonly action?: 'deny' | 'annotate';
  /** The score at which a request counts as an attempt. Default: 5. */
  readonly threshold?: number;
}
