package qmgrd.e2e;

import static qmgrd.e2e.Checks.isTrue;
import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Checks.text;

import com.ibm.msg.client.jms.JmsFactoryFactory;
import com.ibm.msg.client.jms.JmsXAConnectionFactory;
import com.ibm.msg.client.wmq.WMQConstants;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.XAConnection;
import javax.jms.XASession;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;

/**
 * Two-phase units of work by the client's XAResource. "prepare" leaves a unit prepared and "recover" settles it: the script
 * kills the queue manager between them. Other checks need nothing of the sort.
 */
public final class Xa {
    private static final int FORMAT = 0x716d6772;

    private final Target target;
    private final JmsXAConnectionFactory factory;

    private Xa(Target t) throws Exception {
        target = t;
        factory = t.client(JmsFactoryFactory.getInstance(WMQConstants.WMQ_PROVIDER).createXAConnectionFactory());
    }

    public static void main(String[] args) throws Exception {
        Xa x = new Xa(new Target(args));
        Checks c = new Checks(args);
        boolean named = args.length > Target.ARGUMENTS;
        c.check("commit", x::commit);
        c.check("rollback", x::rollback);
        c.check("onephase", x::onePhase);
        c.check("readonly", x::readOnly);
        c.check("suspend", x::suspend);
        c.check("fail", x::fail);
        c.check("errors", x::errors);
        c.check("lost", x::lost);
        c.check("otherconnection", x::otherConnection);
        c.check("waiting", x::waiting);
        if (named) {
            c.check("prepare", x::prepare);
            c.check("recover", x::recover);
            c.check("heuristic", x::heuristic);
            c.check("nothingleft", x::nothingLeft);
        }
        c.exit();
    }

    /** A transaction branch identifier as a transaction manager makes it. */
    private static final class Branch implements Xid {
        private final byte[] global;

        Branch(String name) {
            global = name.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public int getFormatId() {
            return FORMAT;
        }

        @Override
        public byte[] getGlobalTransactionId() {
            return global;
        }

        @Override
        public byte[] getBranchQualifier() {
            return new byte[] {0, 1, (byte) 0xff};
        }
    }

    /** What a connected application has: an XA session with its resource, and a session to look from outside. */
    private final class App implements AutoCloseable {
        final XAConnection connection = factory.createXAConnection();
        final XASession session = connection.createXASession();
        final XAResource resource = session.getXAResource();
        final Queue queue = session.createQueue("queue:///" + target.queue);
        final MessageProducer producer = session.createProducer(queue);

        App() throws Exception {
            connection.start();
        }

        void send(String... texts) throws Exception {
            for (String t : texts) {
                producer.send(session.createTextMessage(t));
            }
        }

        String receive() throws Exception {
            try (MessageConsumer c = session.createConsumer(queue)) {
                Message m = c.receiveNoWait();
                return m == null ? null : Checks.body(m);
            }
        }

        @Override
        public void close() throws Exception {
            connection.close();
        }
    }

    private void outside(Outside act) throws Exception {
        try (Connection c = target.factory().createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            act.run(s, s.createQueue("queue:///" + target.queue));
        }
    }

    private interface Outside {
        void run(Session s, Queue q) throws Exception;
    }

    /** Everybody else sees these messages, and gets them. */
    private void seen(String... want) throws Exception {
        outside((s, q) -> {
            MessageConsumer c = s.createConsumer(q);
            for (String w : want) {
                text(w, c.receive(20_000));
            }
            isTrue("nothing more is there", c.receiveNoWait() == null);
        });
    }

    private void put(String... texts) throws Exception {
        outside((s, q) -> {
            MessageProducer p = s.createProducer(q);
            for (String t : texts) {
                p.send(s.createTextMessage(t));
            }
        });
    }

    private static void code(int want, Checks.Act act) throws Exception {
        try {
            act.run();
        } catch (XAException e) {
            same(want, e.errorCode);
            return;
        }
        throw new AssertionError("no XAException, want " + want);
    }

    private void commit() throws Exception {
        put("in");
        try (App a = new App()) {
            Xid x = new Branch("commit");
            a.resource.start(x, XAResource.TMNOFLAGS);
            same("in", a.receive());
            a.send("out");
            a.producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
            a.send("light");
            a.resource.end(x, XAResource.TMSUCCESS);
            seen();
            same(XAResource.XA_OK, a.resource.prepare(x));
            seen();
            a.resource.commit(x, false);
            seen("out", "light");
        }
    }

    private void rollback() throws Exception {
        put("in");
        try (App a = new App()) {
            for (boolean prepared : new boolean[] {false, true}) {
                Xid x = new Branch("rollback");
                a.resource.start(x, XAResource.TMNOFLAGS);
                same("in", a.receive());
                a.send("out");
                a.resource.end(x, XAResource.TMSUCCESS);
                if (prepared) {
                    same(XAResource.XA_OK, a.resource.prepare(x));
                }
                a.resource.rollback(x);
            }
        }
        outside((s, q) -> {
            Message m = s.createConsumer(q).receive(20_000);
            text("in", m);
            same(3, m.getIntProperty("JMSXDeliveryCount"));
        });
        seen();
    }

    private void onePhase() throws Exception {
        try (App a = new App()) {
            Xid x = new Branch("onephase");
            a.resource.start(x, XAResource.TMNOFLAGS);
            a.send("once");
            a.resource.end(x, XAResource.TMSUCCESS);
            a.resource.commit(x, true);
            seen("once");
        }
    }

    private void readOnly() throws Exception {
        try (App a = new App()) {
            Xid x = new Branch("readonly");
            a.resource.start(x, XAResource.TMNOFLAGS);
            same(null, a.receive());
            a.resource.end(x, XAResource.TMSUCCESS);
            same(XAResource.XA_RDONLY, a.resource.prepare(x));
            code(XAException.XAER_NOTA, () -> a.resource.commit(x, false));
        }
    }

    private void suspend() throws Exception {
        try (App a = new App()) {
            Xid x = new Branch("suspend");
            Xid y = new Branch("between");
            a.resource.start(x, XAResource.TMNOFLAGS);
            a.send("one");
            a.resource.end(x, XAResource.TMSUSPEND);
            a.resource.start(y, XAResource.TMNOFLAGS);
            a.send("two");
            a.resource.end(y, XAResource.TMSUCCESS);
            a.resource.start(x, XAResource.TMRESUME);
            a.send("three");
            a.resource.end(x, XAResource.TMSUCCESS);
            a.resource.commit(y, true);
            seen("two");
            a.resource.start(x, XAResource.TMJOIN);
            a.send("four");
            a.resource.end(x, XAResource.TMSUCCESS);
            same(XAResource.XA_OK, a.resource.prepare(x));
            a.resource.commit(x, false);
            seen("one", "three", "four");
        }
    }

    private void fail() throws Exception {
        try (App a = new App()) {
            Xid x = new Branch("fail");
            a.resource.start(x, XAResource.TMNOFLAGS);
            a.send("never");
            a.resource.end(x, XAResource.TMFAIL);
            code(XAException.XA_RBROLLBACK, () -> a.resource.prepare(x));
            code(XAException.XAER_NOTA, () -> a.resource.rollback(x));
        }
        seen();
    }

    private void errors() throws Exception {
        try (App a = new App(); App b = new App()) {
            Xid x = new Branch("errors");
            code(XAException.XAER_NOTA, () -> a.resource.prepare(x));
            a.resource.start(x, XAResource.TMNOFLAGS);
            code(XAException.XAER_DUPID, () -> b.resource.start(x, XAResource.TMNOFLAGS));
            code(XAException.XAER_PROTO, () -> a.resource.prepare(x));
            a.resource.end(x, XAResource.TMSUCCESS);
            a.resource.rollback(x);
        }
    }

    /** A connection that ends takes what it has not prepared with it. */
    private void lost() throws Exception {
        put("in");
        Xid x = new Branch("lost");
        try (App a = new App()) {
            a.resource.start(x, XAResource.TMNOFLAGS);
            same("in", a.receive());
            a.send("out");
            a.resource.end(x, XAResource.TMSUCCESS);
        }
        try (App b = new App()) {
            code(XAException.XAER_NOTA, () -> b.resource.commit(x, false));
        }
        seen("in");
    }

    private void otherConnection() throws Exception {
        Xid x = new Branch("other");
        try (App a = new App()) {
            a.resource.start(x, XAResource.TMNOFLAGS);
            a.send("by another");
            a.resource.end(x, XAResource.TMSUCCESS);
            same(XAResource.XA_OK, a.resource.prepare(x));
        }
        seen();
        try (App b = new App()) {
            Xid[] all = b.resource.recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN);
            same(1, all.length);
            same(FORMAT, all[0].getFormatId());
            isTrue("the identifier is ours", Arrays.equals(x.getGlobalTransactionId(), all[0].getGlobalTransactionId())
                    && Arrays.equals(x.getBranchQualifier(), all[0].getBranchQualifier()));
            b.resource.commit(all[0], false);
        }
        seen("by another");
    }

    /** A message that a receive of the branch waits for belongs to it. */
    private void waiting() throws Exception {
        for (int mode : new int[] {DeliveryMode.NON_PERSISTENT, DeliveryMode.PERSISTENT}) {
            try (App a = new App()) {
                Xid x = new Branch("waiting");
                a.resource.start(x, XAResource.TMNOFLAGS);
                Thread later = new Thread(() -> {
                    try {
                        Thread.sleep(400);
                        outside((s, q) -> {
                            MessageProducer p = s.createProducer(q);
                            p.setDeliveryMode(mode);
                            p.send(s.createTextMessage("awaited"));
                        });
                    } catch (Exception e) {
                        e.printStackTrace(System.out);
                    }
                });
                later.start();
                try (MessageConsumer c = a.session.createConsumer(a.queue)) {
                    text("awaited", c.receive(20_000));
                }
                later.join();
                a.resource.end(x, XAResource.TMSUCCESS);
                same(XAResource.XA_OK, a.resource.prepare(x));
                seen();
                a.resource.rollback(x);
            }
            seen("awaited");
        }
    }

    /** Leaves three units prepared. */
    private void prepare() throws Exception {
        put("in 1", "in 2", "in 3");
        App a = new App();
        for (int i = 1; i <= 3; i++) {
            Xid x = new Branch("doubt " + i);
            a.resource.start(x, XAResource.TMNOFLAGS);
            same("in " + i, a.receive());
            a.send("out " + i);
            a.resource.end(x, XAResource.TMSUCCESS);
            same(XAResource.XA_OK, a.resource.prepare(x));
        }
        seen();
    }

    /** Commits the first of them, rolls back the second: after a restart. */
    private void recover() throws Exception {
        seen();
        try (App a = new App()) {
            Xid[] all = a.resource.recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN);
            same(3, all.length);
            for (Xid x : all) {
                switch (new String(x.getGlobalTransactionId(), StandardCharsets.UTF_8)) {
                    case "doubt 1": a.resource.commit(x, false); break;
                    case "doubt 2": a.resource.rollback(x); break;
                    default: break;
                }
            }
        }
        outside((s, q) -> {
            MessageConsumer c = s.createConsumer(q);
            String first = Checks.body(c.receive(20_000));
            String second = Checks.body(c.receive(20_000));
            isTrue("both are there: " + first + ", " + second, (first + second).equals("in 2out 1") || (first + second).equals("out 1in 2"));
            isTrue("nothing more is there", c.receiveNoWait() == null);
        });
    }

    /** An operator has backed the third out. */
    private void heuristic() throws Exception {
        seen("in 3");
        try (App a = new App()) {
            Xid x = new Branch("doubt 3");
            code(XAException.XA_HEURRB, () -> a.resource.commit(x, false));
            a.resource.forget(x);
            code(XAException.XAER_NOTA, () -> a.resource.commit(x, false));
        }
    }

    private void nothingLeft() throws Exception {
        try (App a = new App()) {
            same(0, a.resource.recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN).length);
        }
        seen();
    }
}
