/** What happens to the process of the service, and to the table's engine with it at some of the kills. */
export type ProcessFault =
  | { kind: 'kill -9 of the service' }
  | { kind: 'kill -9 of service and engine' }
  | { kind: 'kill -STOP'; forMs: number };

/** A time in which the service did not run: killed and started again, or stopped. */
export type Interruption = { from: number; to: number };

/** What happens to the next requests to the table: to writes alone, or to whatever comes. */
export type TableFault = {
  kind: 'request lost' | 'answer lost' | 'throttled' | 'request delayed';
  requests: number;
  of: 'writes' | 'any';
};

/** What a receiver does to its next requests, or to all of them for a while. */
export type ReceiverFault = { receiver: number } & (
  | { kind: 'receiver down'; forMs: number }
  | { kind: 'receiver resets' | 'receiver hangs up' | 'receiver hangs' | 'receiver slow'; requests: number }
);

/** A fault from outside: nothing of the service is patched for it. */
export type Fault = ProcessFault | TableFault | ReceiverFault;

/** A fault, and after how many committed events it comes. */
export type Planned = { after: number; fault: Fault };

/** The name of a kind of fault. */
export type FaultKind = Fault['kind'];
