package qmgrd.e2e;

import static qmgrd.e2e.Checks.isTrue;
import static qmgrd.e2e.Checks.same;
import static qmgrd.e2e.Checks.text;

import com.ibm.mq.constants.CMQC;
import com.ibm.mq.jms.MQDestination;
import com.ibm.mq.jms.MQQueue;
import com.ibm.msg.client.jms.JmsConnectionFactory;
import com.ibm.msg.client.jms.JmsConstants;
import com.ibm.msg.client.wmq.WMQConstants;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.MapMessage;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.ObjectMessage;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.StreamMessage;
import javax.jms.TextMessage;

/**
 * What a JMS message carries: bodies of every type, properties, headers, groups, code pages, sizes, reports, the MQMD. Arguments
 * as {@link Target}; who connects must be an administrator.
 */
public final class Messages {
    private static final int WAIT = 20_000;
    private static final int HUGE = 100 * 1024 * 1024 - 64 * 1024;

    private final Admin admin;
    private final JmsConnectionFactory factory;
    private final String queue;
    private final String channel;

    private Messages(Target t) throws Exception {
        admin = new Admin(t);
        factory = t.factory();
        queue = t.queue;
        channel = t.channel;
    }

    public static void main(String[] args) throws Exception {
        Messages m = new Messages(new Target(args));
        // Before the first connection: a connection that shares the socket of another has the MAXMSGL of that one's time (2010).
        m.admin.mqsc("ALTER CHANNEL(" + m.channel + ") CHLTYPE(SVRCONN) MAXMSGL(104857600)");
        Checks c = new Checks(args, m::fresh);
        c.check("types", m::types);
        c.check("properties", m::properties);
        c.check("headers", m::headers);
        c.check("priorities", m::priorities);
        c.check("expiry", m::expiry);
        c.check("group", m::group);
        c.check("codepages", m::codePages);
        c.check("nonjms", m::nonJms);
        c.check("reports", m::reports);
        c.check("expiryreport", m::expiryReport);
        c.check("mqmd", m::mqmd);
        c.check("selectors", m::selectors);
        c.check("huge", m::huge);
        c.exit();
    }

    private void fresh() throws Exception {
        admin.queue(queue, "MAXMSGL(104857600) MSGDLVSQ(PRIORITY)");
    }

    private interface Act {
        void with(Session s, MessageProducer p, MessageConsumer r) throws Exception;
    }

    private MQQueue destination() throws Exception {
        return new MQQueue(queue);
    }

    private void with(Act act) throws Exception {
        with(destination(), act);
    }

    /** Acts with a producer and a consumer of d. */
    private void with(MQDestination d, Act act) throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            act.with(s, s.createProducer(d), s.createConsumer(d));
        }
    }

    private void types() throws Exception {
        with((s, p, r) -> {
            byte[] data = {0, 1, -1, 127, -128};
            BytesMessage bytes = s.createBytesMessage();
            bytes.writeBytes(data);
            bytes.writeDouble(2.5);
            MapMessage map = s.createMapMessage();
            map.setBoolean("true", true);
            map.setLong("long", Long.MIN_VALUE);
            map.setString("string", "<&> \u20ac");
            map.setBytes("bytes", data);
            map.setChar("char", '\u00e4');
            ObjectMessage object = s.createObjectMessage(new ArrayList<>(List.of("a", 1, new Date(7))));
            StreamMessage stream = s.createStreamMessage();
            stream.writeInt(42);
            stream.writeString("two words");
            stream.writeFloat(-0.5f);
            stream.writeBytes(data);
            for (int mode : new int[] {DeliveryMode.PERSISTENT, DeliveryMode.NON_PERSISTENT}) {
                p.setDeliveryMode(mode);
                for (Message m : new Message[] {bytes, map, object, stream, s.createMessage(), s.createTextMessage(null),
                    s.createTextMessage("text \u4f60\u597d")}) {
                    p.send(m);
                }
                BytesMessage b = (BytesMessage) r.receive(WAIT);
                byte[] got = new byte[data.length];
                same(data.length, b.readBytes(got));
                same(Arrays.toString(data), Arrays.toString(got));
                same(2.5, b.readDouble());
                MapMessage g = (MapMessage) r.receive(WAIT);
                same(true, g.getBoolean("true"));
                same(Long.MIN_VALUE, g.getLong("long"));
                same("<&> \u20ac", g.getString("string"));
                same(Arrays.toString(data), Arrays.toString(g.getBytes("bytes")));
                same('\u00e4', g.getChar("char"));
                same(5, Collections.list(g.getMapNames()).size());
                same(List.of("a", 1, new Date(7)), ((ObjectMessage) r.receive(WAIT)).getObject());
                StreamMessage t = (StreamMessage) r.receive(WAIT);
                same(42, t.readInt());
                same("two words", t.readString());
                same(-0.5f, t.readFloat());
                same(data.length, t.readBytes(got));
                Message empty = r.receive(WAIT);
                isTrue("no body", empty != null && !(empty instanceof TextMessage) && !(empty instanceof BytesMessage));
                text(null, r.receive(WAIT));
                same(mode, text("text \u4f60\u597d", r.receive(WAIT)).getJMSDeliveryMode());
            }
        });
    }

    private void properties() throws Exception {
        with((s, p, r) -> {
            Message m = s.createTextMessage("with properties");
            m.setBooleanProperty("aBoolean", true);
            m.setByteProperty("aByte", (byte) -7);
            m.setShortProperty("aShort", (short) 300);
            m.setIntProperty("anInt", Integer.MAX_VALUE);
            m.setLongProperty("aLong", 1L << 40);
            m.setFloatProperty("aFloat", 1.25f);
            m.setDoubleProperty("aDouble", -1e300);
            m.setStringProperty("aString", "it's <b> & \u00fc \u20ac");
            m.setStringProperty("none", null);
            p.send(m);
            Message in = text("with properties", r.receive(WAIT));
            same(Boolean.TRUE, in.getObjectProperty("aBoolean"));
            same((byte) -7, in.getObjectProperty("aByte"));
            same((short) 300, in.getObjectProperty("aShort"));
            same(Integer.MAX_VALUE, in.getObjectProperty("anInt"));
            same(1L << 40, in.getObjectProperty("aLong"));
            same(1.25f, in.getObjectProperty("aFloat"));
            same(-1e300, in.getObjectProperty("aDouble"));
            same("it's <b> & \u00fc \u20ac", in.getObjectProperty("aString"));
            same(null, in.getStringProperty("none"));
            isTrue("the null property is there", in.propertyExists("none"));
        });
    }

    private void headers() throws Exception {
        with((s, p, r) -> {
            Message m = s.createTextMessage("headed");
            m.setJMSType("a/type");
            m.setJMSCorrelationID("order 17");
            m.setJMSReplyTo(s.createQueue("queue:///REPLY.HERE"));
            long before = System.currentTimeMillis();
            p.send(m);
            Message in = text("headed", r.receive(WAIT));
            same("a/type", in.getJMSType());
            same("order 17", in.getJMSCorrelationID());
            same("REPLY.HERE", ((Queue) in.getJMSReplyTo()).getQueueName().replaceFirst("queue://[^/]*/", "")
                    .replaceFirst("\\?.*", ""));
            same(m.getJMSMessageID(), in.getJMSMessageID());
            same(0L, in.getJMSExpiration());
            same(4, in.getJMSPriority());
            same(1, in.getIntProperty("JMSXDeliveryCount"));
            isTrue("timestamp", Math.abs(in.getJMSTimestamp() - before) < 5000);
            same(m.getJMSTimestamp(), in.getJMSTimestamp());
            isTrue("JMSXAppID " + in.getStringProperty("JMSXAppID"), in.getStringProperty("JMSXAppID").contains("e2e"));
            same("admin", in.getStringProperty("JMSXUserID").trim());
            same(CMQC.MQMT_REQUEST, in.getIntProperty("JMS_IBM_MsgType"));
            same(CMQC.MQFMT_STRING, in.getStringProperty("JMS_IBM_Format"));
            same(CMQC.MQAT_JAVA, in.getIntProperty("JMS_IBM_PutApplType"));
        });
    }

    private void priorities() throws Exception {
        with((s, p, r) -> {
            for (int pri : new int[] {0, 9, 4, 9, 0}) {
                p.send(s.createTextMessage("p" + pri), DeliveryMode.NON_PERSISTENT, pri, 0);
            }
            for (int pri : new int[] {9, 9, 4, 0, 0}) {
                same(pri, text("p" + pri, r.receive(WAIT)).getJMSPriority());
            }
        });
    }

    private void expiry() throws Exception {
        with((s, p, r) -> {
            p.send(s.createTextMessage("short"), DeliveryMode.PERSISTENT, 4, 300);
            Thread.sleep(500);
            p.send(s.createTextMessage("long"), DeliveryMode.PERSISTENT, 4, 60_000);
            Message in = text("long", r.receive(WAIT));
            long left = in.getJMSExpiration() - System.currentTimeMillis();
            isTrue("a minute is left: " + left, left > 30_000 && left <= 60_000);
            same(null, r.receiveNoWait());
        });
    }

    private void group() throws Exception {
        with((s, p, r) -> {
            for (int i = 1; i <= 3; i++) {
                Message m = s.createTextMessage("g" + i);
                m.setStringProperty("JMSXGroupID", "ID:" + "4711".repeat(12));
                m.setIntProperty("JMSXGroupSeq", i);
                if (i == 3) {
                    m.setBooleanProperty("JMS_IBM_Last_Msg_In_Group", true);
                }
                p.send(m);
            }
            for (int i = 1; i <= 3; i++) {
                Message in = text("g" + i, r.receive(WAIT));
                same("ID:" + "4711".repeat(12), in.getStringProperty("JMSXGroupID"));
                same(i, in.getIntProperty("JMSXGroupSeq"));
                same(i == 3, in.getBooleanProperty("JMS_IBM_Last_Msg_In_Group"));
            }
        });
    }

    /** The body leaves in a code page, and comes converted by the queue manager, or as it was for the client to convert. */
    private void codePages() throws Exception {
        for (int ccsid : new int[] {819, 1208, 1200, 37, 932, 500, 1252}) {
            String body = ccsid == 932 ? "\u65e5\u672c\u8a9e" : "Gr\u00fc\u00dfe {[]}";
            MQQueue d = destination();
            d.setCCSID(ccsid);
            with(d, (s, p, r) -> {
                p.send(s.createTextMessage(body));
                same("CCSID " + ccsid, body, ((TextMessage) r.receive(WAIT)).getText());
            });
            MQQueue convert = destination();
            convert.setReceiveConversion(WMQConstants.WMQ_RECEIVE_CONVERSION_QMGR);
            convert.setReceiveCCSID(1208);
            with(d, (s, p, none) -> {
                none.close();
                p.send(s.createTextMessage(body));
                Message in = s.createConsumer(convert).receive(WAIT);
                same("CCSID " + ccsid + " converted", body, ((TextMessage) in).getText());
                same("UTF-8", in.getStringProperty(WMQConstants.JMS_IBM_CHARACTER_SET));
            });
        }
    }

    /** targetClient=1: a message without the header of JMS, as C programs read and write it. */
    private void nonJms() throws Exception {
        MQQueue d = destination();
        d.setTargetClient(WMQConstants.WMQ_CLIENT_NONJMS_MQ);
        with(d, (s, p, r) -> {
            p.send(s.createTextMessage("plain"));
            Message in = text("plain", r.receive(WAIT));
            same(CMQC.MQFMT_STRING, in.getStringProperty("JMS_IBM_Format"));
            BytesMessage b = s.createBytesMessage();
            b.writeInt(1);
            p.send(b);
            in = r.receive(WAIT);
            same(4L, ((BytesMessage) in).getBodyLength());
            same(CMQC.MQFMT_NONE, in.getStringProperty("JMS_IBM_Format"));
        });
    }

    private void reports() throws Exception {
        admin.queue("E2E.REPORTS", "");
        with((s, p, r) -> {
            MessageConsumer replies = s.createConsumer(s.createQueue("queue:///E2E.REPORTS"));
            Message m = s.createTextMessage("reported");
            m.setJMSReplyTo(s.createQueue("queue:///E2E.REPORTS"));
            m.setIntProperty(JmsConstants.JMS_IBM_REPORT_COA, CMQC.MQRO_COA);
            m.setIntProperty(JmsConstants.JMS_IBM_REPORT_COD, CMQC.MQRO_COD_WITH_FULL_DATA);
            p.send(m);
            report(m, CMQC.MQFB_COA, replies.receive(WAIT));
            same(null, replies.receiveNoWait());
            text("reported", r.receive(WAIT));
            Message cod = replies.receive(WAIT);
            report(m, CMQC.MQFB_COD, cod);
            text("reported", cod);
        });
    }

    private static void report(Message of, int feedback, Message in) throws Exception {
        isTrue("a report came", in != null);
        same(CMQC.MQMT_REPORT, in.getIntProperty("JMS_IBM_MsgType"));
        same(feedback, in.getIntProperty("JMS_IBM_Feedback"));
        same(of.getJMSMessageID(), in.getJMSCorrelationID());
    }

    private void expiryReport() throws Exception {
        admin.queue("E2E.REPORTS", "");
        with((s, p, r) -> {
            MessageConsumer replies = s.createConsumer(s.createQueue("queue:///E2E.REPORTS"));
            Message m = s.createTextMessage("too late");
            m.setJMSReplyTo(s.createQueue("queue:///E2E.REPORTS"));
            m.setIntProperty(JmsConstants.JMS_IBM_REPORT_EXPIRATION, CMQC.MQRO_EXPIRATION);
            m.setIntProperty(JmsConstants.JMS_IBM_REPORT_PASS_CORREL_ID, CMQC.MQRO_PASS_CORREL_ID);
            m.setJMSCorrelationIDAsBytes(Arrays.copyOf("passed on".getBytes("US-ASCII"), 24));
            r.close();
            p.send(m, DeliveryMode.NON_PERSISTENT, 4, 200);
            Thread.sleep(400);
            same(null, s.createConsumer(destination()).receiveNoWait());
            Message in = replies.receive(WAIT);
            isTrue("a report came", in != null);
            same(CMQC.MQFB_EXPIRATION, in.getIntProperty("JMS_IBM_Feedback"));
            same(m.getJMSCorrelationID(), in.getJMSCorrelationID());
        });
    }

    private void mqmd() throws Exception {
        MQQueue d = destination();
        d.setMQMDWriteEnabled(true);
        d.setMQMDReadEnabled(true);
        d.setMQMDMessageContext(WMQConstants.WMQ_MDCTX_SET_ALL_CONTEXT);
        byte[] id = Arrays.copyOf("my own identifier".getBytes("US-ASCII"), 24);
        with(d, (s, p, r) -> {
            Message m = s.createTextMessage("described");
            m.setObjectProperty(WMQConstants.JMS_IBM_MQMD_MSGID, id);
            m.setStringProperty(WMQConstants.JMS_IBM_MQMD_APPLIDENTITYDATA, "identity of mine");
            m.setStringProperty(WMQConstants.JMS_IBM_MQMD_USERIDENTIFIER, "somebody");
            m.setStringProperty(WMQConstants.JMS_IBM_MQMD_PUTAPPLNAME, "another program");
            m.setIntProperty(WMQConstants.JMS_IBM_MQMD_MSGTYPE, CMQC.MQMT_APPL_FIRST + 1);
            m.setIntProperty(WMQConstants.JMS_IBM_MQMD_FEEDBACK, CMQC.MQFB_APPL_FIRST + 2);
            p.send(m);
            Message in = text("described", r.receive(WAIT));
            same(Arrays.toString(id), Arrays.toString((byte[]) in.getObjectProperty(WMQConstants.JMS_IBM_MQMD_MSGID)));
            same("identity of mine", in.getStringProperty(WMQConstants.JMS_IBM_MQMD_APPLIDENTITYDATA).trim());
            same("somebody", in.getStringProperty(WMQConstants.JMS_IBM_MQMD_USERIDENTIFIER).trim());
            same("another program", in.getStringProperty(WMQConstants.JMS_IBM_MQMD_PUTAPPLNAME).trim());
            same(CMQC.MQMT_APPL_FIRST + 1, in.getIntProperty(WMQConstants.JMS_IBM_MQMD_MSGTYPE));
            same(CMQC.MQFB_APPL_FIRST + 2, in.getIntProperty(WMQConstants.JMS_IBM_MQMD_FEEDBACK));
        });
    }

    @SuppressWarnings("unchecked") // of a browser
    private void selectors() throws Exception {
        try (Connection c = factory.createConnection()) {
            c.start();
            Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer p = s.createProducer(destination());
            for (int i = 0; i < 6; i++) {
                Message m = s.createTextMessage("m" + i);
                m.setIntProperty("n", i);
                m.setStringProperty("colour", i % 2 == 0 ? "dark_red" : "darkblue");
                m.setBooleanProperty("flag", i == 3);
                m.setJMSType(i == 4 ? "four" : "other");
                p.send(m, DeliveryMode.NON_PERSISTENT, i, 0);
            }
            String[][] want = {
                {"n BETWEEN 1 AND 2 AND colour = 'darkblue'", "m1"}, {"colour LIKE 'dark!_%' ESCAPE '!' AND n < 2", "m0"},
                {"flag", "m3"}, {"JMSType IN ('four', 'five')", "m4"}, {"n * 2 - 1 = 3 AND nothing IS NULL", "m2"},
                {"JMSPriority = 5 AND NOT (n <> 5)", "m5"},
            };
            for (String[] w : want) {
                try (javax.jms.QueueBrowser b = s.createBrowser(destination(), w[0])) {
                    List<Message> seen = Collections.list((java.util.Enumeration<Message>) b.getEnumeration());
                    same(w[0], 1, seen.size());
                    text(w[1], seen.get(0));
                }
                try (MessageConsumer r = s.createConsumer(destination(), w[0])) {
                    text(w[1], r.receive(WAIT));
                    same(w[0], null, r.receiveNoWait());
                }
            }
            Checks.throwsA(javax.jms.InvalidSelectorException.class, () -> s.createConsumer(destination(), "n = = 2"));
        }
    }

    /** As long as the product lets a message be, less its header of JMS. */
    private void huge() throws Exception {
        byte[] data = new byte[HUGE];
        for (int i = 0; i < data.length; i += 997) {
            data[i] = (byte) (i * 31 + i / 4096);
        }
        with((s, p, r) -> {
            BytesMessage m = s.createBytesMessage();
            m.writeBytes(data);
            p.send(m, DeliveryMode.PERSISTENT, 4, 0);
            m.clearBody();
            BytesMessage in = (BytesMessage) r.receive(60_000);
            same((long) HUGE, in.getBodyLength());
            byte[] got = new byte[HUGE];
            in.readBytes(got);
            isTrue("the bytes are the same", Arrays.equals(data, got));
        });
    }
}
