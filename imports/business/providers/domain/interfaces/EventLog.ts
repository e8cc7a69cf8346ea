/** What the Provider system tells operators: events with flat fields, so that one redactor can go over all of them. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface EventLog {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
}
