/** The provider system's log. Events have flat fields, so that one redactor covers all of them. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface EventLog {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
}
