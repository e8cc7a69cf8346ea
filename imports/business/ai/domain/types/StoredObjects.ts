/** Objects that vendors store: files, containers and the like. Whoever holds an account's key can name any of them. */

export type StoredObjectKind =
  | 'audio'
  | 'cached content'
  | 'connector'
  | 'container'
  | 'conversation'
  | 'data source'
  | 'file'
  | 'image'
  | 'item'
  | 'prompt'
  | 'response'
  | 'secret'
  | 'skill'
  | 'thread'
  | 'tunnel'
  | 'vector store'
  | 'voice';

/** An object that a request names. */
export interface NamedObject {
  readonly kind: StoredObjectKind;
  readonly id: string;
  /** Where, in the vendor's own request. */
  readonly path: string;
  /** In the conversation, rather than among the settings of the request. */
  readonly isInput: boolean;
}

/** A model that a request names besides its own. */
export interface NamedModel {
  /** The model as the vendor names it. Absent: the vendor chooses. */
  readonly name?: string;
  /** Where, in the vendor's own request. */
  readonly path: string;
}

/** A request as it is about to be sent to a vendor. */
export interface SentRequest {
  readonly providerId: string;
  /** It is sent with the user's own key or connected account, which holds nobody else's objects. */
  readonly isOwnAccount: boolean;
  readonly objects: readonly NamedObject[];
  /** Tools of the vendor's own, by the names of `BuiltInTool` where they have one. */
  readonly hostedTools: readonly string[];
  readonly models: readonly NamedModel[];
}
