/** A fault of the service's process, and of the table's engine at some of the kills. */
export type ProcessFault =
  | { kind: 'kill -9 of the service' }
  | { kind: 'kill -9 of service and engine' }
  | { kind: 'kill -STOP'; forMs: number };

/** A time in which the service did not run: it was killed and started again, or stopped. */
export type Interruption = { from: number; to: number };

/** A fault of the next requests to the table: of writes only, or of all. */
export type TableFault = {
  kind: 'request lost' | 'answer lost' | 'throttled' | 'request delayed';
  requests: number;
  of: 'writes' | 'any';
};

/** A fault of a receiver: of its next requests, or of all for some time. */
export type ReceiverFault = { receiver: number } & (
  | { kind: 'receiver down'; forMs: number }
  | { kind: 'receiver resets' | 'receiver hangs up' | 'receiver hangs' | 'receiver slow'; requests: number }
);

/** A fault from outside: the service itself is not changed for it. */
export type Fault = ProcessFault | TableFault | ReceiverFault;

/** A fault, and the number of committed events before it. */
export type Planned = { after: number; fault: Fault };

/** The name of a kind of fault. */
export type FaultKind = Fault['kind'];
